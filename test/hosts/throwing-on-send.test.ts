// A hook of the host throws while a response of ours is sent: the host's error handler responds, and what protects the
// response stays, without what belongs to ours alone.
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { isGuarded, isPrivate } from '../contract/replies.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import type { Answer } from '../helpers/wire.ts'

/** An onSend hook that throws so many times. */
const throwing = (times: number) => (app: FastifyInstance): void => {
  let left = times
  app.addHook('onSend', async () => {
    if (left-- > 0) throw new Error('compression failed')
  })
}

const HOST_POLICY = "default-src 'self'"

/** The same, and an error page of the host. */
const withPage = (times: number) => (app: FastifyInstance): void => {
  throwing(times)(app)
  app.setErrorHandler((_error, _request, reply) =>
    reply.code(500).header('content-security-policy', HOST_POLICY).type('text/html').send('<h1>Sorry</h1>'))
}

type Portal = ReturnType<typeof wire>
const HTML = { accept: 'text/html' }

const responses: Record<string, (portal: Portal) => Promise<Answer>> = {
  'a refusal by page': (portal) => portal.authorize({ client_id: 'other' }, null, HTML),
  'a refusal in JSON': (portal) => portal.authorize({ client_id: 'other' }, null),
  'a refusal by redirect': (portal) => portal.authorize({ response_type: 'token' }),
  'a code': (portal) => portal.authorize(),
  'the login': (portal) => portal.authorize({}, null)
}

for (const [what, request] of Object.entries(responses)) {
  for (const times of [1, Infinity]) {
    t.test(`${what}: onSend throws ${times === 1 ? 'once' : 'always'}`, async (t) => {
      const { url } = await startHost(t, { loginPage: '/login' }, { prepare: throwing(times) })
      const answer = await request(wire(url))
      t.ok(answer.status >= 400, String(answer.status))
      isGuarded(t, answer)
      t.equal(answer.headers.get('location'), null)
    })
  }

  t.test(`${what}: the host's error page keeps its policy`, async (t) => {
    const { url } = await startHost(t, { loginPage: '/login' }, { prepare: withPage(1) })
    const answer = await request(wire(url))
    t.equal(answer.text, '<h1>Sorry</h1>')
    isPrivate(t, answer)
    t.equal(answer.headers.get('content-security-policy'), `${HOST_POLICY}, frame-ancestors 'none'`)
    t.equal(answer.headers.get('x-frame-options'), 'DENY')
    t.equal(answer.headers.get('location'), null)
  })
}

for (const times of [1, Infinity]) {
  t.test(`token and user: onSend throws ${times === 1 ? 'once' : 'always'}`, async (t) => {
    for (const request of [(portal: Portal) => portal.token({ code: 'x' }), (portal: Portal) => portal.user('x')]) {
      const { url } = await startHost(t, {}, { prepare: throwing(times) })
      const answer = await request(wire(url))
      t.ok(answer.status >= 400, String(answer.status))
      isPrivate(t, answer)
    }
  })
}

t.test('a redirect of the host\'s error handler stays one', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      throwing(1)(app)
      app.setErrorHandler((_error, _request, reply) => reply.redirect('/sorry', 302))
    }
  })
  const answer = await wire(url).authorize({ response_type: 'token' })
  t.equal(answer.headers.get('location'), '/sorry')
  isGuarded(t, answer)
})
