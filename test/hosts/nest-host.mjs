// A NestJS app with the plugin, in a process of its own: the test runner compiles what tests import, and cannot load
// Nest 12. Run as `node nest-host.mjs '{ "portal": …, "session": …, "record": … }'`: the portal, and the Cookie header
// and record of the one who is logged in. Each line that it prints is JSON: where it listens, an event, a warning of
// the process.
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import partnerSso from 'fastify-partner-sso'

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
process.on('warning', ({ message }) => print({ warning: message }))

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

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false, cors: true })
app.setGlobalPrefix('api')
// For everything that Nest itself responds to.
const fail = () => { throw new Error('not for the routes of a plugin') }
app.useGlobalGuards({ canActivate: () => false })
app.useGlobalPipes({ transform: fail })
app.useGlobalInterceptors({ intercept: fail })
app.useGlobalFilters({
  catch: (error, host) => host.switchToHttp().getResponse().status(error.status === 404 ? 404 : 418).send('')
})
const fastify = app.getHttpAdapter().getInstance()
fastify.addHook('onRequest', async ({ headers }) => {
  if ('x-stop' in headers) throw Object.assign(new Error('stop'), { statusCode: 429 })
})

const { portal, session, record } = JSON.parse(process.argv[2])
await app.register(partnerSso, {
  portal,
  prefix: '/sso',
  loginPage: '/login',
  currentUser: ({ headers }) => headers.cookie === session ? record : null,
  portalEligibility: (user) => user,
  onEvent: ({ type }) => print({ event: type })
})
await app.listen(0, '127.0.0.1')

print({ url: await app.getUrl(), fastify: fastify.version, ready: await fastify.partnerSso.ready() })
process.once('SIGTERM', () => app.close())
