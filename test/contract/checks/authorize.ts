// The authorization endpoint.
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { refusals } from '../../../lib/errors.ts'
import { hasPolicy, HTML, isGuardedRedirect, isPage, isPrivate, isRefused } from '../replies.ts'
import type { Subject } from '../subject.ts'

/** Empty is missing, unknown is ignored. Repeated and misspelt parameters: attacks/parameter-pollution. */
export async function parameters (t: Test, { at, events }: Subject): Promise<void> {
  for (const more of ['&scope=', '&scope=openid&prompt=none', '&&=']) {
    t.ok((await at.authorize({}, 'alice', {}, more)).redirect.has('code'), more)
  }
  for (const [changes, reason] of [
    [{ state: '' }, 'state_missing'],
    [{ code_challenge: undefined, code_challenge_method: 'S256' }, 'code_challenge_malformed'],
    [{ code_challenge: 'A'.repeat(43), code_challenge_method: undefined }, 'code_challenge_method_unsupported']
  ] as const) {
    await at.authorize(changes)
    t.match(events().at(-1), { reason }, reason)
  }
}

/** Nobody is logged in: to the login page and back, or `access_denied`. Any falsy value means nobody. */
export async function nobody (t: Test, { at, behaviour, events, loginPage, portal, prefix }: Subject): Promise<void> {
  const { currentUser } = behaviour
  for (const none of [null, '']) {
    const nobody = JSON.stringify(none)
    behaviour.currentUser = () => none
    events()
    const response = await at.authorize()
    isGuardedRedirect(t, response)
    const [event] = events()
    const remembered = response.headers.getSetCookie().filter((cookie) => cookie.startsWith('partner-sso-return='))
    if (loginPage === 'none') {
      t.equal(response.redirect.get('error'), 'access_denied', nobody)
      t.match(event, { type: 'sign_in_refused', reason: 'not_logged_in', clientId: portal.clientId }, nobody)
      t.strictSame(remembered, [], `no login will ask for it: ${nobody}`)
      continue
    }
    t.match(event, { type: 'login_required', reason: 'login_page', clientId: portal.clientId }, nobody)
    const location = response.headers.get('location') ?? ''
    const returnTo = response.redirect.get(loginPage === 'address' ? 'return_to' : 'to') ?? ''
    t.ok(returnTo.startsWith(`${prefix}/oauth/authorize?client_id=`), returnTo)
    const whole = encodeURIComponent(returnTo)
    const expected = loginPage === 'address'
      ? `/login?lang=en&return_to=${whole}#form`
      : `https://login.example/%C3%A9/GET?to=${whole}`
    t.equal(location, expected, nobody)
    t.strictSame(remembered, [
      `partner-sso-return=${whole}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`
    ], `the same URL is in a cookie: ${nobody}`)
    behaviour.currentUser = currentUser
    const back = await at.send(returnTo.slice(prefix.length), { headers: { 'x-user': 'alice' } })
    t.ok(back.redirect.has('code'), nobody)
    t.equal(back.redirect.get('state'), 'a state', nobody)
  }
}

/** The user may not enter. Any falsy value means that. */
export async function notEligible (t: Test, { at, behaviour, events }: Subject): Promise<void> {
  for (const none of [null, false]) {
    behaviour.portalEligibility = () => none
    t.equal((await at.authorize()).redirect.get('error'), 'access_denied', String(none))
    t.match(events().at(-1), { type: 'sign_in_refused', reason: 'not_eligible' }, String(none))
  }
}

/** The hooks get the portal without its secret, and are not called for a request that is refused before. */
export async function hooks (t: Test, { at, behaviour, portal, recordOf }: Subject): Promise<void> {
  let calls = 0
  const { currentUser } = behaviour
  behaviour.currentUser = (...given) => { calls++; return currentUser(...given) }
  behaviour.portalEligibility = (user, { portal: given, request }) => {
    const { clientSecret, level = 'partner', ...information } = portal
    t.strictSame([user, { ...given }, request.method], ['alice', { ...information, level }, 'GET'])
    return recordOf('alice')
  }
  t.ok(await at.code())
  t.equal(calls, 1)
  const refused = [
    { client_id: 'x' }, { redirect_uri: 'x' }, { response_type: 'x' }, { state: '' }, { code_challenge: 'x' }
  ]
  for (const changes of refused) await at.authorize(changes)
  t.equal(calls, 1, 'not called for a request that is refused')
}

const OWN_POLICY = "default-src 'self'; frame-ancestors *"

type OwnReply = (reply: FastifyReply) => unknown

const teapot: OwnReply = (reply) => reply.code(418).send('one moment')

/** What a function of the host may reply with: 418 and this text, unless another status and text are given. */
const ownReplies: Record<string, [send: OwnReply, status?: number, text?: string]> = {
  returned: [teapot],
  awaited: [async (reply) => { await teapot(reply) }],
  'no payload': [(reply) => reply.code(403).send(), 403, ''],
  stream: [(reply) => reply.send(Readable.from(['one ', 'moment'])), 200],
  redirection: [(reply) => reply.redirect('/consent', 303), 303, ''],
  'and a value': [async (reply) => {
    await teapot(reply)
    return 'alice'
  }],
  'and a throw': [async (reply) => {
    await teapot(reply)
    throw new Error('late')
  }],
  'past Fastify': [(reply) => {
    reply.hijack()
    reply.raw.writeHead(403).end('blocked')
    return 'alice'
  }, 403, 'blocked']
}

/** Which of the host's functions replies, what the event is, and what is logged where it throws after its reply. */
const replying = {
  currentUser: ['login_required', 'current_user_replied', 'current_user_failed'],
  portalEligibility: ['sign_in_refused', 'not_eligible', 'portal_eligibility_failed']
} as const

/** `currentUser` and `portalEligibility` may reply: only headers are added to it, and no code is issued. */
export async function ownReply (t: Test, { at, behaviour, events, lines, lowestLevel }: Subject): Promise<void> {
  const { currentUser, portalEligibility } = behaviour
  for (const [asked, [type, reason, failure]] of Object.entries(replying)) {
    for (const [name, [send, status = 418, text = 'one moment']] of Object.entries(ownReplies)) {
      const reply = (reply: FastifyReply): unknown => {
        reply.status(200).type('text/plain').header('content-security-policy', OWN_POLICY)
        return send(reply)
      }
      behaviour.currentUser = asked === 'currentUser' ? (_request, given) => reply(given) : currentUser
      behaviour.portalEligibility = (_user, context) => {
        t.equal(asked, 'portalEligibility', `${name}: not called after a reply`)
        return reply(context.reply)
      }
      events()
      lines()
      const row = `${asked}: ${name}`
      const response = await at.authorize()
      t.strictSame([response.status, response.text], [status, text], row)
      t.match(events(), [{ type, reason }], row)
      const errors = lines().filter(({ level }) => level === 50).map(({ msg }) => msg)
      const isLogged = name === 'and a throw' && lowestLevel <= 50
      t.strictSame(errors, isLogged ? [`partner-sso: ${failure}, after a reply`] : [], row)
      if (name !== 'past Fastify') hasPolicy(t, response, `${OWN_POLICY}, frame-ancestors 'none'`)
    }
  }
  Object.assign(behaviour, { currentUser, portalEligibility })
}

const htmlPage = '<h1>Entrada imposible</h1>'

/** What an `errorPage` may do, and the text of the page; undefined: the page of the plugin is sent. */
const ownPages: Record<string, [page: (reply: FastifyReply) => unknown, text?: string]> = {
  HTML: [() => htmlPage, htmlPage],
  'an awaited reply': [async (reply) => { await reply.type('text/html; charset=utf-8').send(htmlPage) }, htmlPage],
  'a reply with another status': [(reply) => reply.code(200).type('text/html; charset=utf-8').send(htmlPage), htmlPage],
  'a throw': [() => { throw new Error('no template') }],
  'a rejection': [async (reply) => {
    reply.code(200).header('content-security-policy', OWN_POLICY)
    return await Promise.reject(new Error('no template'))
  }],
  nothing: [() => {}],
  'no text': [() => 17],
  'a throw after the reply': [async (reply) => {
    await reply.type('text/html; charset=utf-8').send(htmlPage)
    throw new Error('late')
  }, htmlPage]
}

/** `errorPage` replaces the page, and nothing else. */
export async function errorPage (t: Test, subject: Subject): Promise<void> {
  let page: (reply: FastifyReply) => unknown = () => {}
  const given: unknown[] = []
  const { at, events, lines, lowestLevel, portal } = await subject.another({
    options: {
      errorPage (refusal: unknown, _request: unknown, reply: FastifyReply) {
        given.push(refusal)
        reply.header('content-security-policy', OWN_POLICY)
        return page(reply) as string
      }
    }
  })
  const { description } = refusals.redirect_uri_unregistered
  for (const [name, [returned, text]] of Object.entries(ownPages)) {
    page = returned
    given.length = 0
    events()
    lines()
    const response = await at.authorize({ redirect_uri: 'https://zzz.example/' }, null, HTML)
    const [event] = events()
    t.match(event, { reason: 'redirect_uri_unregistered' }, name)
    const { loginUrl } = portal
    t.strictSame(given, [{
      status: 400, error: 'invalid_request', description, reason: event?.reason, loginUrl, requestId: event?.requestId
    }], name)
    const isLogged = /throw|rejection|nothing|no text/.test(name) && lowestLevel <= 50
    t.equal(lines().filter(({ msg }) => msg === 'partner-sso: errorPage threw').length, isLogged ? 1 : 0, name)
    if (text === undefined) {
      isPage(t, response, 400)
    } else {
      t.strictSame([response.status, response.text], [400, text], name)
      hasPolicy(t, response, `${OWN_POLICY}, frame-ancestors 'none'`)
    }
  }
  given.length = 0
  const unknown = refusals.client_id_unknown
  isRefused(t, await at.authorize({ client_id: 'zzz' }), unknown.status, unknown.error, unknown.description)
  t.strictSame(given, [], 'JSON is never replaced')
}

/** A payload that Fastify refuses is a failure of the hook. */
export async function refusedReply (t: Test, { at, behaviour, events }: Subject): Promise<void> {
  behaviour.currentUser = (_request, reply) => reply.type('text/plain').send(Symbol('no payload'))
  events()
  const response = await at.authorize()
  t.notOk(response.redirect.has('code'))
  isPrivate(t, response)
  t.notOk(events().some(({ reason }) => reason === 'ok'))
}
