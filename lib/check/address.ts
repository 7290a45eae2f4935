/** A name of one label, or below a domain that is never public. */
const NAME = /^(?:[^.]+|.*\.(?:local|localhost|internal|test|lan))$/
/** Loopback, and the ranges of RFC 1918. Any IPv6 address counts as private, too: portals are given names. */
const ADDRESS = /^(?:(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+)+|\[.*\])$/

/** Whether a host name is one of a private network, which no portal reaches. */
export const isPrivate = (hostname: string): boolean =>
  NAME.test(hostname) || ADDRESS.test(hostname)
