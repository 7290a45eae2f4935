// The login is the host's: @fastify/session, @fastify/secure-session, and a signed cookie of @fastify/cookie. The
// browser comes from the portal without a session, logs in, and is back where it wanted to go.
import cookie from '@fastify/cookie'
import secureSession from '@fastify/secure-session'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

interface Login {
  prepare (app: FastifyInstance): Promise<unknown>
  enter (request: FastifyRequest, reply: FastifyReply, id: string): void
  current (request: FastifyRequest): string | undefined
}

// Without the types that the three plugins would give one another: each has its own idea of request.session.
interface Holder {
  session: { user?: string, get (name: 'user'): string | undefined, set (name: 'user', id: string): void }
}
const sessionOf = (request: FastifyRequest) => (request as unknown as Holder).session

const logins: Record<string, Login> = {
  '@fastify/session': {
    async prepare (app) {
      await app.register(cookie)
      const secret = 'a secret of at least thirty-two characters'
      await app.register(session, { secret, cookie: { secure: false, sameSite: 'lax' } })
    },
    enter (request, _reply, id) { sessionOf(request).user = id },
    current: (request) => sessionOf(request).user
  },
  '@fastify/secure-session': {
    prepare: async (app) =>
      await app.register(secureSession, { key: Buffer.alloc(32, 7), cookie: { path: '/', sameSite: 'lax' } }),
    enter (request, _reply, id) { sessionOf(request).set('user', id) },
    current: (request) => sessionOf(request).get('user')
  },
  '@fastify/cookie': {
    prepare: async (app) => await app.register(cookie, { secret: 'to sign cookies with' }),
    enter (_request, reply, id) { reply.setCookie('user', id, { signed: true, path: '/', sameSite: 'lax' }) },
    current (request) {
      const { valid, value } = request.unsignCookie(request.cookies.user ?? '')
      return valid ? value : undefined
    }
  }
}

for (const [name, { prepare, enter, current }] of Object.entries(logins)) {
  t.test(name, async (t) => {
    const { url } = await startHost(t, {
      loginPage: '/login?theme=dark',
      currentUser (request): User | null {
        const id = current(request)
        return id === undefined ? null : { id, eligible: true }
      }
    }, {
      async prepare (app) {
        await prepare(app)
        app.post<{ Querystring: { return_to: string }, Body: { user: string } }>('/login', async (request, reply) => {
          enter(request, reply, request.body.user)
          return await reply.redirect(request.query.return_to, 303)
        })
      }
    })
    const portal = wire(url)

    const login = (await portal.authorize({ state: 'a b' }, null)).headers.get('location') as string
    t.match(login, /^\/login\?theme=dark&return_to=%2Foauth%2Fauthorize%3Fclient_id%3D/)

    const body = JSON.stringify({ user: 'alice' })
    const entered = await portal.send(login, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const headers = { cookie: entered.headers.getSetCookie().map((text) => text.split(';')[0]).join('; ') }

    const { redirect } = await portal.send(entered.headers.get('location') as string, { headers })
    t.ok(redirect.get('code'))
    t.equal(redirect.get('state'), 'a b')

    await keepsContract(t, portal, { headers })
    const forged = await portal.authorize({}, null, { cookie: `${headers.cookie.slice(0, 12)}x` })
    t.match(forged.headers.get('location'), /^\/login\?/, 'a cookie that was tampered with is no login')
  })
}
