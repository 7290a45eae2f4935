// A NestJS app whose users enter the dispute portal.
// From a clone, with a portal beside it: npm run ready && node examples/dist/nest/main.js
import 'reflect-metadata'
import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import partnerSso from 'fastify-partner-sso'
import { portal, startPortal } from '../portal.ts'
import { portalRecord, type User } from '../users.ts'
import { AppModule } from './app.module.ts'
import { Sessions } from './sessions.ts'

const port = Number(process.env.PORT ?? 3000)

// The plugin logs by the logger of Fastify, which is off by default. Without it, use the option `onEvent`.
const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter({ logger: true }))
app.enableShutdownHooks()

await app.register(cookie, { secret: process.env.COOKIE_SECRET ?? randomBytes(32).toString('hex') })

const sessions = app.get(Sessions)
// Global guards, pipes, interceptors, filters and setGlobalPrefix are for controllers. The routes of the plugin are
// routes of Fastify: `prefix` moves them, and `currentUser` decides who is logged in.
await app.register(partnerSso<User>, {
  portal,
  currentUser: (request) => sessions.userOf(request),
  portalEligibility: portalRecord,
  loginPage: '/login'
})

await app.listen(port, 'localhost')

const child = startPortal(`http://localhost:${port}`)
app.getHttpServer().once('close', () => { child.kill() })
