/** Whether browsers at one host reach the other: not a name that only a private network has. */
export const isReachable = (hostname: string, from: string): boolean => !isPrivate(hostname) || isPrivate(from)

/** Whether a host name is one of this machine or of a private network, which no portal reaches. */
export const isPrivate = (hostname: string): boolean =>
  /^(?:[^.]+|(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\..*|\[.*\]|.*\.(?:local|localhost|internal|test|lan))$/.test(
    hostname
  )
