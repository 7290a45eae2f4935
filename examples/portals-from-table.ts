// Portals that are kept in a table: each integration is a row, found by its client_id with every request. A row can be
// added, changed or disabled while the app runs, and nothing has to be restarted.
//
// From a clone, an app with it and a portal beside it:
//   npm run ready && DATABASE_URL=postgres://localhost/acme node examples/dist/demo.js portals-from-table
import type { Portal, PortalFinder } from 'fastify-partner-sso'

/** A `Pool` of node-postgres is one. Without an `error` listener on it, a restart of PostgreSQL ends the process. */
export interface Database {
  query (sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** `client_secrets` has one secret, or the old and the new one while it is being rotated. */
export const createTable = `
CREATE TABLE IF NOT EXISTS integrations (
  client_id text PRIMARY KEY,
  client_secrets text[] NOT NULL,
  login_url text NOT NULL,
  redirect_uri text NOT NULL,
  level text NOT NULL DEFAULT 'partner',
  enabled boolean NOT NULL DEFAULT true
)`

const findIntegration = `
SELECT client_id AS "clientId", client_secrets AS "clientSecret", login_url AS "loginUrl",
  redirect_uri AS "redirectUri", level
FROM integrations WHERE client_id = $1 AND enabled`

/** Finds the portal of a client_id. The plugin checks it, waits `storeTimeout` for it, and keeps nothing of it. */
export function portalsIn (database: Database): PortalFinder {
  return async (clientId) => {
    const { rows } = await database.query(findIntegration, [clientId])
    return rows[0] as Portal | undefined
  }
}

/** Adds an integration, or changes it, as an administration page would. One that is disabled stays disabled. */
export async function addIntegration (database: Database, portal: Portal): Promise<void> {
  const { clientId, clientSecret, loginUrl, redirectUri, level = 'partner' } = portal
  await database.query(
    `INSERT INTO integrations (client_id, client_secrets, login_url, redirect_uri, level)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (client_id) DO UPDATE SET client_secrets = excluded.client_secrets, login_url = excluded.login_url,
      redirect_uri = excluded.redirect_uri, level = excluded.level`,
    [clientId, [clientSecret].flat(), loginUrl, redirectUri, level]
  )
}
