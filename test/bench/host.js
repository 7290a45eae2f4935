/** The portal that all users sign in to. */
export const portal = {
  loginUrl: 'https://portal.example/external-oauth/3f9c',
  clientId: 'partner-123',
  clientSecret: 'a-secret-of-a-usual-length-for-this-portal',
  redirectUri: 'https://portal.example/oauth/callback'
}

/** The users of the partner application. Server and load generator make the same ones. */
export const users = Array.from({ length: 10_000 }, (_, n) => makeUser(`u${String(n).padStart(6, '0')}`))

const sessions = new Map(users.map((user) => [user.session, user]))

/** The user who is logged in, by the request's Cookie header. */
export const currentUser = (cookie) => sessions.get(/(?:^|; )session=([^;]*)/.exec(cookie)?.[1])

/** The record has some 256 bytes. */
function makeUser (id) {
  const record = {
    external_id: id,
    email: `${id}@p.example`,
    name: 'name '.repeat(18),
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  }
  return { session: `session-of-${id}`, record }
}
