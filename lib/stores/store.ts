/**
 * Where codes and access tokens are kept until they are redeemed. Three operations, each of them atomic: the single use
 * of codes and tokens depends on nothing else. A request whose call fails or takes too long is refused with
 * `temporarily_unavailable`.
 *
 * Keys and values are opaque text (base64url, in values with dots): a key, of 20 characters, is a one-way derivation of
 * a code or token; a value is encrypted, and has at most 22,000 characters for each client secret of the portal, most
 * often some hundred. `checkStore` of `fastify-partner-sso/testing` tests whether a store keeps these promises.
 */
export interface Store {
  /** Stores value under key for lifetime seconds unless the key is held. False when it was held. */
  put (key: string, value: string, lifetime: number): Promise<boolean>
  /**
   * Removes the value and returns it. Null when the key holds nothing, or the value expired or was revoked. At most one
   * caller gets the value.
   */
  take (key: string): Promise<string | null>
  /**
   * Puts a mark in place of what the key holds, and returns that as `take` does; for lifetime seconds nothing can be
   * put there. A take may remove the mark or leave it.
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
