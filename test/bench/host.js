/**
 * The partner application that every server of the benchmark stands in: its users, their sessions,
 * the records they enter the portal with, and the portals. Server and load generator make the same one,
 * so that the load generator knows what every answer must be.
 *
 * @param {{ users?: number, portals?: number, recordBytes?: number }} size
 */
export function makeHost ({ users: userCount = 10_000, portals: portalCount = 1, recordBytes = 256 } = {}) {
  const users = Array.from({ length: userCount }, (_, n) => makeUser(n, recordBytes))
  const portals = Array.from({ length: portalCount }, (_, n) => makePortal(n))
  const sessions = new Map(users.map((user) => [user.session, user]))
  const usersById = new Map(users.map((user) => [user.id, user]))
  const portalsById = new Map(portals.map((portal) => [portal.clientId, portal]))

  return {
    users,
    portals,
    userById: (id) => usersById.get(id),
    portalById: (clientId) => portalsById.get(clientId),
    /** Who is logged in, by the request's cookie header. */
    currentUser: (cookie) => sessions.get(/(?:^|; )session=([^;]*)/.exec(cookie)?.[1])
  }
}

/** The smallest record is about 150 bytes; the name is padded up to `recordBytes`. */
function makeUser (n, recordBytes) {
  const id = `u${String(n).padStart(6, '0')}`
  const record = {
    external_id: id,
    email: `${id}@p.example`,
    name: 'U',
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  }
  record.name = record.name.padEnd(recordBytes - JSON.stringify(record).length + 1, ' name')
  return { id, session: `session-of-${id}`, record }
}

function makePortal (n) {
  return {
    loginUrl: `https://portal-${n}.example/external-oauth/3f9c`,
    clientId: `portal-${n}`,
    clientSecret: `a-secret-of-a-usual-length-for-portal-${n}`,
    redirectUri: `https://portal-${n}.example/oauth/callback`
  }
}
