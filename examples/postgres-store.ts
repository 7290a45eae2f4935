// A store on PostgreSQL, for apps that have a database and no Redis. Each operation is one statement, so it is atomic:
// PostgreSQL locks the row of the key. `test/stores/stores.test.ts` runs it through `checkStore`.
//
// The pool needs an `error` listener: without one, a restart of PostgreSQL ends the process (demo.ts).
//
// From a clone, an app with it and a portal beside it:
//   npm run ready && DATABASE_URL=postgres://localhost/acme node examples/dist/demo.js postgres-store
import type { Store } from 'fastify-partner-sso'
import type { Pool } from 'pg'

/** Keys are 20 characters of base64url, values mostly some hundred; a key without a value was revoked. */
const TABLE = `
  CREATE TABLE IF NOT EXISTS partner_sso (
    key text COLLATE "C" PRIMARY KEY,
    value text,
    expires_at timestamptz NOT NULL,
    revoked_value text
  );
  CREATE INDEX IF NOT EXISTS partner_sso_expires_at ON partner_sso (expires_at)`

const PUT = `
  INSERT INTO partner_sso AS held (key, value, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
  WHERE held.expires_at <= now()`

const TAKE = `
  DELETE FROM partner_sso WHERE key = $1 AND value IS NOT NULL AND expires_at > now()
  RETURNING value`

// The old value is gone when the statement returns, so the row keeps it until it expires.
const REVOKE = `
  INSERT INTO partner_sso AS held (key, expires_at) VALUES ($1, now() + make_interval(secs => $2))
  ON CONFLICT (key) DO UPDATE SET value = NULL, expires_at = excluded.expires_at,
    revoked_value = CASE WHEN held.expires_at > now() THEN held.value END
  RETURNING revoked_value`

/** Creates the table where it does not exist. */
export async function createTable (pool: Pool): Promise<void> {
  await pool.query(TABLE)
}

export function postgresStore (pool: Pool): Store {
  return {
    async put (key, value, lifetime) {
      const { rowCount } = await pool.query(PUT, [key, value, lifetime])
      return rowCount === 1
    },

    async take (key) {
      const { rows: [row] } = await pool.query<{ value: string }>(TAKE, [key])
      return row?.value ?? null
    },

    async revoke (key, lifetime) {
      const { rows: [row] } = await pool.query<{ revoked_value: string | null }>(REVOKE, [key, lifetime])
      return row?.revoked_value ?? null
    }
  }
}

/** Deletes expired rows: to be called every minute or so, by one process or by all. Returns how many there were. */
export async function deleteExpired (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query('DELETE FROM partner_sso WHERE expires_at <= now()')
  return rowCount ?? 0
}
