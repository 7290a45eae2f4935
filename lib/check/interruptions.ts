/** Thrown where a request got no response. What sends the request may be tried again. */
export class NoResponse extends Error {
  /** What to do. */
  readonly fix: string

  constructor (sentence: string, fix: string) {
    super(sentence)
    this.fix = fix
  }
}

/** Thrown where a response is not what the app responds to this request: something in front keeps responses. */
export class Cached extends Error {
  readonly fix = 'Exempt /oauth/* from every cache in front (CDN, proxy_cache, a hook): the plugin sends no-store.'
}

/** Thrown where a page of the app is limited, such as the login. The message says where, and what to do. */
export class Limited extends Error {}

/** Thrown where the run cannot go on: a limit of the endpoints, or its own. The message says why, and what to do. */
export class Stopped extends Error {}
