// The partner's app with one of the examples added to it, and a portal beside it. From a clone:
//
//   npm run ready && node examples/dist/demo.js prometheus | own-pages | postgres-store | portals-from-table
//
// The last two need DATABASE_URL, the URL of a PostgreSQL database.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import { addTemplates, ownPages } from './own-pages.ts'
import { partnerApp } from './partner-app.ts'
import type { PartnerAppSettings } from './partner-app.ts'
import { portal, startPortal } from './portal.ts'
import { addIntegration, createTable as createPortals, portalsIn } from './portals-from-table.ts'
import { createTable, deleteExpired, postgresStore } from './postgres-store.ts'
import { metricsRoute } from './prometheus.ts'

const port = Number(process.env.PORT ?? 3000)

const demos: Record<string, () => Promise<FastifyInstance>> = {
  /** Metrics at /metrics. */
  async prometheus () {
    const app = await demoApp()
    await metricsRoute(app, [portal.clientId])
    return app
  },

  'own-pages': async () => await demoApp(ownPages, addTemplates),

  async 'postgres-store' () {
    const pool = database()
    await createTable(pool)
    const app = await demoApp({ store: postgresStore(pool) })
    const timer = setInterval(() => { deleteExpired(pool).catch((error) => app.log.error(error)) }, 60_000)
    app.addHook('onClose', async () => {
      clearInterval(timer)
      await pool.end()
    })
    return app
  },

  async 'portals-from-table' () {
    const pool = database()
    await pool.query(createPortals)
    await addIntegration(pool, portal)
    const app = await demoApp({ portal: portalsIn(pool) })
    app.addHook('onClose', async () => { await pool.end() })
    return app
  }
}

function database (): Pool {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 1000 })
  // Without a listener, a restart of PostgreSQL ends this process. The pool opens new connections by itself.
  return pool.on('error', (error) => { console.error(`PostgreSQL: ${error.message}`) })
}

/** The app. Everybody has to log in again when it is started again. */
async function demoApp (
  sso: PartnerAppSettings['sso'] = {}, prepare?: PartnerAppSettings['prepare']
): Promise<FastifyInstance> {
  const cookieSecret = randomBytes(32).toString('hex')
  return await partnerApp({ portal, cookieSecret, sso, ...prepare && { prepare } })
}

const name = process.argv[2] ?? ''
const demo = Object.hasOwn(demos, name) ? demos[name] : undefined
if (demo === undefined) throw new Error(`Say which one: ${Object.keys(demos).join(', ')}`)
const app = await demo()
await app.listen({ port, host: 'localhost' })
const child = startPortal(`http://localhost:${port}`)
const stop = () => {
  child.kill()
  app.close().catch(console.error)
}
process.once('SIGINT', stop).once('SIGTERM', stop)
