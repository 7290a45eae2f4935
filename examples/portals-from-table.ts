// Portals that are kept in a table: each integration is a row, found by its client_id with every request. A row can be
// added, changed or disabled while the app runs, and nothing has to be restarted.
//
//   DATABASE_URL=postgres://localhost/acme node examples/dist/portals-from-table.js
import { randomBytes } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import partnerSso, { type Portal } from 'fastify-partner-sso'
import { portalRecord, users } from './users.ts'

/** A `Pool` of node-postgres is one. */
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

/** The portal of a client_id. The plugin checks it, waits `storeTimeout` for it, and keeps nothing of it. */
async function findPortal (database: Database, clientId: string): Promise<Portal | undefined> {
  const { rows } = await database.query(findIntegration, [clientId])
  return rows[0] as Portal | undefined
}

/** The app. A header stands for its login here; take a user from a session only. */
export async function appWithTable (database: Database, { logger = true } = {}): Promise<FastifyInstance> {
  const app = Fastify({ logger })
  await app.register(partnerSso, {
    portal: (clientId) => findPortal(database, clientId),
    currentUser: (request) => users.find(({ id }) => id === request.headers['x-user']),
    portalEligibility: portalRecord,
    loginPage: '/login',
    redis: process.env.REDIS_URL
  })
  return app
}

/** Adds an integration, as an administration page would. */
export async function addIntegration (database: Database, portal: Portal): Promise<void> {
  const { clientId, clientSecret, loginUrl, redirectUri, level = 'partner' } = portal
  await database.query(
    `INSERT INTO integrations (client_id, client_secrets, login_url, redirect_uri, level)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (client_id) DO NOTHING`,
    [clientId, [clientSecret].flat(), loginUrl, redirectUri, level]
  )
}

async function main (): Promise<void> {
  const { default: { Pool } } = await import('pg')
  const database = new Pool({ connectionString: process.env.DATABASE_URL })
  await database.query(createTable)
  await addIntegration(database, {
    clientId: 'acme-test',
    clientSecret: randomBytes(24).toString('base64url'),
    loginUrl: 'https://test.portal.example/external-oauth/acme',
    redirectUri: 'https://test.portal.example/oauth/callback'
  })
  const app = await appWithTable(database)
  app.addHook('onClose', async () => { await database.end() })
  await app.listen({ port: Number(process.env.PORT ?? 3000) })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
