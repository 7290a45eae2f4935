// A NestJS app with the plugin, in a process of its own: the test runner compiles what tests import, and cannot load
// Nest 12. Run as `node nest-host.mjs '{"portal": …}'`. Each line that it prints is JSON: where it listens, an event,
// a warning of the process, a line of Fastify's log.
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import partnerSso from 'fastify-partner-sso'

const settings = JSON.parse(process.argv[2])
const { portal, plugin = {}, guard = false, broken = false, hook = false, globalPrefix } = settings

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
process.on('warning', ({ message }) => print({ warning: message }))

const record = (id) => ({
  external_id: id,
  email: `${id}@partner.example`,
  name: `Name of ${id}`,
  type: 'partner',
  control_role: 'Partner Read Only',
  product_role: 'Product Operator'
})

// Without decorators: plain JavaScript has none.
class Own {
  own () {
    return { own: true }
  }
}
Get('own')(Own.prototype, 'own', Object.getOwnPropertyDescriptor(Own.prototype, 'own'))
Controller()(Own)

class AppModule {}
Module({ controllers: [Own] })(AppModule)

const stream = { write: (line) => print({ log: JSON.parse(line) }) }
const adapter = new FastifyAdapter({ logger: settings.logger === true && { level: 'info', stream } })
const app = await NestFactory.create(AppModule, adapter, { logger: false, cors: true })
if (globalPrefix !== undefined) app.setGlobalPrefix(globalPrefix)
if (guard) app.useGlobalGuards({ canActivate: () => false })
if (broken) breakControllers()
if (hook) app.getHttpAdapter().getInstance().addHook('onRequest', stop)

await app.register(partnerSso, {
  portal,
  currentUser: ({ headers }) => headers['x-user'] ?? null,
  portalEligibility: (id) => id.startsWith('nobody') ? null : record(id),
  onEvent: ({ type, reason }) => print({ event: type, reason }),
  ...plugin
})
await app.listen(0, '127.0.0.1')

const fastify = app.getHttpAdapter().getInstance()
print({ url: await app.getUrl(), fastify: fastify.version, ready: await fastify.partnerSso.ready() })
process.once('SIGTERM', () => app.close())

/** Pipes, interceptors and filters for everything that Nest itself responds to. */
function breakControllers () {
  const fail = () => { throw new Error('not for the routes of a plugin') }
  app.useGlobalPipes({ transform: fail })
  app.useGlobalInterceptors({ intercept: fail })
  app.useGlobalFilters({ catch: (_error, host) => host.switchToHttp().getResponse().status(418).send('') })
}

function stop ({ headers }, _reply, done) {
  done('x-stop' in headers ? Object.assign(new Error('stop'), { statusCode: 429 }) : undefined)
}
