// A NestJS app whose users enter the dispute portal.
// From a clone, with a portal beside it: npm run ready && node examples/dist/nest/main.js
import 'reflect-metadata'
import { randomBytes, randomUUID } from 'node:crypto'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import partnerSso from 'fastify-partner-sso'
import { addSessions, currentUser } from '../logins/sessions.ts'
import { portal, startPortal } from '../portal.ts'
import { portalRecord, type User } from '../users.ts'
import { AppModule } from './app.module.ts'

const port = Number(process.env.PORT ?? 3000)

// The plugin logs by the logger of Fastify, which is off by default. Without it, use the option `onEvent`.
// `trustProxy`: the address of a proxy that ends TLS. Without it no cookie is Secure behind one.
// `genReqId`: the ids of Fastify, such as req-6, are the same in the log of every process.
const trustProxy = process.env.TRUST_PROXY ?? false
const adapter = new FastifyAdapter({ logger: true, trustProxy, genReqId: () => randomUUID() })
const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter)
app.enableShutdownHooks()

// A new secret at each start: everybody has to log in again. Yours comes from your configuration.
await addSessions(app.getHttpAdapter().getInstance(), randomBytes(32).toString('hex'))

// Global guards, pipes, interceptors, filters and setGlobalPrefix do not apply to the routes of the plugin, which are
// routes of Fastify: `prefix` moves them, and `currentUser` repeats what your guard checks.
await app.register(partnerSso<User>, {
  portal,
  currentUser,
  portalEligibility: portalRecord,
  loginPage: '/login',
  // One process. With several, use `redis`.
  store: 'memory'
})

await app.listen(port, 'localhost')

const child = startPortal(`http://localhost:${port}`)
app.getHttpServer().once('close', () => { child.kill() })
