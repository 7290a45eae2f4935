/**
 * Where codes and access tokens wait to be redeemed. Three operations, each of them atomic: the single use of codes
 * and tokens rests on nothing else. A call that fails or takes too long is answered with `temporarily_unavailable`.
 *
 * Keys and values are opaque: a key is a one-way derivation of a code or token, a value is sealed with a key that only
 * the code or token yields. `checkStore` of `fastify-partner-sso/testing` tells whether a store keeps these promises.
 */
export interface Store {
  /** Stores value under key for lifetime seconds unless the key is held. False when it was held. */
  put (key: string, value: string, lifetime: number): Promise<boolean>
  /** Removes the value and returns it; null when there is none, it expired or it was revoked. At most one caller gets it. */
  take (key: string): Promise<string | null>
  /** Kills what the key holds, and for lifetime seconds keeps it from being put. */
  revoke (key: string, lifetime: number): Promise<void>
}
