/**
 * Where codes and access tokens are kept until they are redeemed, for the option `store`. It has three operations, and
 * each must be atomic: that a code or token can be used once only (RFC 6749 section 4.1.2) depends on nothing else.
 * Test a store of your own with `checkStore` of `fastify-partner-sso/testing`.
 *
 * Keys and values are opaque text in base64url, in values with dots. A key has 20 characters, and is derived one-way
 * from a code or token. A value is encrypted; it has most often some hundred characters, and at most 22,000 for each
 * client secret of the portal.
 *
 * A request whose call rejects, or takes longer than `storeTimeout`, is refused with `temporarily_unavailable`.
 */
export interface Store {
  /**
   * Stores a value, unless the key is held: by a value that has not expired, or by the mark of `revoke`.
   *
   * @param lifetime - seconds until the value expires
   * @returns true when it stored the value; false when the key was held, and then nothing has changed
   */
  put (key: string, value: string, lifetime: number): Promise<boolean>

  /**
   * Removes a value and returns it. Of callers at the same time, one at most gets the value.
   *
   * @returns the value; null when there is none, or it has expired or was revoked
   */
  take (key: string): Promise<string | null>

  /**
   * Puts a mark in place of what the key holds, so that nothing can be put there. A later `take` returns null, and may
   * remove the mark or leave it.
   *
   * @param lifetime - seconds until the mark expires
   * @returns the value that the key held, as `take` would have returned it; null when there was none
   */
  revoke (key: string, lifetime: number): Promise<string | null>
}

/**
 * The store as the plugin uses it. `deadline` is a time of `performance.now()`: a call without a response by then
 * fails, and a command that has not been sent by then never is. One deadline serves all the calls of a request.
 */
export interface TimedStore {
  put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean>
  take (key: string, deadline: number): Promise<string | null>
  revoke (key: string, lifetime: number, deadline: number): Promise<string | null>
}
