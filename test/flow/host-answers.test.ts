// Where the host answers itself, or breaks an answer of ours: its policy stays, and nothing that lives leaves with it.
import { type FastifyReply } from 'fastify'
import t from 'tap'
import { isGuarded, isPrivate } from '../helpers/contract.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const FORM = '<form method="post" action="/consent"><button>Go on</button></form>'

t.test('a page that currentUser sends keeps its own policy, and ours is beside it', async (t) => {
  const own = "default-src 'self'; form-action 'self'"
  for (const [given, expected] of [
    [undefined, "frame-ancestors 'none'"],
    [own, `${own}, frame-ancestors 'none'`],
    [[own, "img-src 'none'"], `${own}, img-src 'none', frame-ancestors 'none'`]
  ] as const) {
    const { url } = await startHost(t, {
      currentUser: (_request, reply) => {
        if (given !== undefined) reply.header('content-security-policy', given)
        reply.type('text/html').send(FORM)
        return null
      }
    })
    const answer = await wire(url).authorize()
    t.equal(answer.text, FORM)
    t.equal(answer.headers.get('content-security-policy'), expected)
    t.notMatch(answer.headers.get('content-security-policy'), "form-action 'none'", 'its form can be submitted')
    t.equal(answer.headers.get('x-frame-options'), 'DENY')
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    isPrivate(t, answer)
  }
})

t.test('so does the page of the host\'s error handler', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('preHandler', async () => { throw new Error('of the host') })
      app.setErrorHandler((_error, _request, reply) => reply.code(500).type('text/html')
        .header('content-security-policy', "form-action 'self'").send(FORM))
    }
  })
  const answer = await wire(url).authorize()
  t.equal(answer.status, 500)
  t.equal(answer.headers.get('content-security-policy'), "form-action 'self', frame-ancestors 'none'")
})

t.test('our own answers have our policy alone, whatever the host sets', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' }, {
    prepare: (app) => app.addHook('onSend', async (_request, reply, payload) => {
      reply.header('content-security-policy', 'frame-ancestors *')
      return payload
    })
  })
  isGuarded(t, await wire(url).authorize())
  isGuarded(t, await wire(url).authorize({}, null))
  isGuarded(t, await wire(url).authorize({ response_type: 'x' }))
  isGuarded(t, await wire(url).authorize({ client_id: 'x' }))
  const page = await wire(url).authorize({ client_id: 'x' }, null, { accept: 'text/html' })
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'; style-src [^,*]+$/)
})

for (const [name, server] of [['its own page', true], ['Fastify\'s answer', false]] as const) {
  t.test(`a host's onSend that throws after a success: ${name}`, async (t) => {
    let broken = false
    const { url } = await startHost(t, {}, {
      prepare (app) {
        app.addHook('onSend', async () => { if (broken) throw new Error('of the host') })
        if (server) app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ problem: 'of the host' }))
      }
    })
    const portal = wire(url)
    const code = await portal.code()
    const token = await portal.accessToken()
    broken = true
    for (const answer of [await portal.authorize(), await portal.token({ code }), await portal.user(token)]) {
      t.equal(answer.status, 500)
      t.equal(answer.headers.get('location'), null)
      t.notMatch(answer.text, /[\w-]{44}|alice/)
      isPrivate(t, answer)
    }
  })
}

t.test('a location of the host\'s own stays, when one of its hooks throws', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('preHandler', async (_request, reply) => {
        reply.header('location', '/elsewhere?code=1')
        throw new Error('of the host')
      })
      app.setErrorHandler((_error, _request, reply) => reply.code(303).send())
    }
  })
  const answer = await wire(url).authorize()
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), '/elsewhere?code=1')
})

t.test('options of the host for our routes do not replace what makes them ours', async (t) => {
  const wins = (_request: unknown, reply: FastifyReply) => { reply.code(299).send('of the host') }
  const seen: string[] = []
  const { url } = await startHost(t, {
    routeOptions: {
      handler: wins,
      errorHandler: (_error: unknown, _request: unknown, reply: FastifyReply) => {
        reply.code(298).send('of the host')
      },
      method: 'PUT',
      url: '/elsewhere',
      exposeHeadRoute: true,
      onSend: async (_request: unknown, reply: FastifyReply, payload: unknown) => {
        seen.push('onSend')
        reply.header('cache-control', 'public').header('x-of-host', '1')
        return payload
      },
      preParsing: async (_request: unknown, _reply: unknown, body: unknown) => { seen.push('preParsing'); return body },
      onRequest: async () => { seen.push('onRequest') }
    } as object
  })
  const portal = wire(url)
  const authorized = await portal.authorize()
  t.equal(authorized.status, 302)
  t.equal(authorized.headers.get('x-of-host'), '1')
  isGuarded(t, authorized)
  t.strictSame(seen, ['onRequest', 'preParsing', 'onSend'], 'its hooks run')
  t.strictSame((await portal.user(await portal.accessToken())).json, recordOf('alice'))
  t.equal((await portal.user('x')).status, 401)
  t.equal((await portal.send('/oauth/user', { method: 'HEAD' })).status, 404)
})

t.test('a login page on another site, made by a function', async (t) => {
  const { url } = await startHost(t, {
    loginPage: (returnTo) => `https://login.partner.example:8443/in?to=${encodeURIComponent(returnTo)}#top`
  })
  const { headers } = await wire(url).authorize({ state: 's' }, null)
  const location = new URL(headers.get('location') as string)
  t.equal(location.origin, 'https://login.partner.example:8443')
  t.equal(location.hash, '#top')
  t.match(location.searchParams.get('to'), /^\/oauth\/authorize\?.*&state=s$/)
})

t.test('the page shows nothing of the headers', async (t) => {
  const { url } = await startHost(t)
  const marked = {
    'user-agent': 'zzz-agent',
    referer: 'https://zzz-referer.example/',
    'accept-language': 'zzz-lang',
    cookie: 'a=zzz-cookie',
    'x-forwarded-host': 'zzz-host.example',
    accept: 'text/html'
  }
  const answer = await wire(url).authorize({ client_id: 'unknown' }, 'zzz-user', marked)
  t.equal(answer.status, 400)
  t.notMatch(answer.text, 'zzz')
  t.notMatch(JSON.stringify([...answer.headers]), 'zzz')
  t.notMatch(answer.text, PORTAL.redirectUri)
})
