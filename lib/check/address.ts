/** Whether a host name is one of a private network, which no portal reaches. */
export const isPrivate = (hostname: string): boolean =>
  /^(?:[^.]+|(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\..*|\[.*\]|.*\.(?:local|localhost|internal|test|lan))$/.test(
    hostname
  )
