// The partner's app of the night, in a process of its own: the example, with its portals and the names of its users in
// PostgreSQL, its grants in Redis, /ready for the balancer and a port for its metrics. It sends a message when it
// listens.
import { Pool } from 'pg'
import { partnerApp } from '../../examples/partner-app.ts'
import { portalsIn } from '../../examples/portals-from-table.ts'
import { serveMetrics } from '../../examples/prometheus.ts'
import { addReadiness } from '../../examples/readiness.ts'
import { portalRecord } from '../../examples/users.ts'
import type { User } from '../../examples/users.ts'
import type { HostSettings } from './stage.ts'

const settings = JSON.parse(process.argv[2] as string) as HostSettings
const { port, metricsPort, redis, database, portals, readiness, storeTimeout } = settings

const pool = new Pool({ connectionString: database, max: 5 })
pool.on('error', () => {})

/** The record, with the name that the database has. */
async function portalEligibility (user: User) {
  const { rows: [row] } = await pool.query('SELECT name FROM people WHERE id = $1', [user.id])
  const record = portalRecord(user)
  return record && { ...record, name: row.name }
}

const [portal] = portals
const app = await partnerApp({
  portal,
  cookieSecret: 'the secret of the session cookies',
  // The function has no more time than the store: where that is short, a busy machine takes longer.
  sso: { portal: storeTimeout < 1000 ? portals : portalsIn(pool), portalEligibility, redis, storeTimeout },
  prepare: (app) => addReadiness(app, readiness)
})
serveMetrics(app, portals.map(({ clientId }) => clientId), metricsPort)
await app.listen({ port, host: '127.0.0.1' })
// Nobody is left who needs it.
process.on('disconnect', () => process.exit())
process.send?.('listening')
