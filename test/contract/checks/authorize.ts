// The authorization endpoint.
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { refusals } from '../../../lib/errors.ts'
import { sessionOf } from '../../app.ts'
import { challenge, VERIFIER } from '../../wire.ts'
import { hasPolicy, HTML, isGuardedRedirect, isPage, refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

/** Unknown is ignored; of PKCE both or none. Repeated and misspelt parameters: attacks/parameter-pollution. */
export async function parameters (t: Test, { at, events }: Subject): Promise<void> {
  t.ok((await at.authorize({}, 'ada', {}, '&scope=openid&prompt=none&&=')).redirect.has('code'))
  await at.authorize({ code_challenge_method: 'S256' })
  t.match(events().at(-1), { reason: 'code_challenge_malformed' })
  await at.authorize({ code_challenge: 'A'.repeat(43) })
  t.match(events().at(-1), { reason: 'code_challenge_method_unsupported' })
}

/** Nobody is logged in: to the login page and back, or `access_denied`. */
export async function nobody (t: Test, { at, events, loginPage, portal, prefix }: Subject): Promise<void> {
  events()
  const response = await at.authorize({}, null)
  isGuardedRedirect(t, response)
  const [event] = events()
  const remembered = response.headers.getSetCookie().filter((cookie) => cookie.startsWith('partner-sso-return='))
  if (loginPage === 'none') {
    t.equal(response.redirect.get('error'), 'access_denied')
    t.match(event, { type: 'sign_in_refused', reason: 'not_logged_in', clientId: portal.clientId })
    t.strictSame(remembered, [], 'no login will ask for it')
    return
  }
  t.match(event, { type: 'login_required', reason: 'login_page', clientId: portal.clientId })
  const returnTo = response.redirect.get(loginPage === 'address' ? 'return_to' : 'to') ?? ''
  t.ok(returnTo.startsWith(`${prefix}/oauth/authorize?client_id=`), returnTo)
  const whole = encodeURIComponent(returnTo)
  const expected = loginPage === 'address'
    ? `/login?lang=en&return_to=${whole}#form`
    : `https://login.example/%C3%A9/GET?to=${whole}`
  t.equal(response.headers.get('location'), expected)
  t.strictSame(remembered, [
    `partner-sso-return=${whole}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`
  ], 'the same URL is in a cookie')
  const back = await at.send(returnTo.slice(prefix.length), { headers: { cookie: sessionOf('ada') } })
  t.ok(back.redirect.has('code'))
  t.equal(back.redirect.get('state'), 'a state')
}

/** The login leads back with every parameter that the endpoint knows: PKCE holds for the code that is then issued. */
export async function pkceThroughLogin (t: Test, { at, loginPage, prefix }: Subject): Promise<void> {
  if (loginPage === 'none') return
  const { redirect } = await at.authorize({ ...challenge(), scope: 'openid', other: 'x' }, null)
  const returnTo = redirect.get(loginPage === 'address' ? 'return_to' : 'to') ?? ''
  const sent = new URLSearchParams(returnTo.slice(returnTo.indexOf('?')))
  t.strictSame([...sent.keys()].sort(), [
    'client_id', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'scope', 'state'
  ], returnTo)
  const back = await at.send(returnTo.slice(prefix.length), { headers: { cookie: sessionOf('ada') } })
  const code = back.redirect.get('code') ?? ''
  t.equal((await at.token({ code, code_verifier: VERIFIER })).status, 200, returnTo)
}

/** Any falsy value means that nobody is logged in, or that the user may not enter. */
export async function falsy (t: Test, { at, behaviour, events }: Subject): Promise<void> {
  const { currentUser } = behaviour
  for (const none of [null, false, 0, NaN, '']) {
    behaviour.currentUser = currentUser
    behaviour.portalEligibility = () => none
    await at.authorize()
    t.match(events().at(-1), { type: 'sign_in_refused', reason: 'not_eligible' }, `portalEligibility: ${none}`)
    behaviour.currentUser = () => none
    await at.authorize()
    t.match(events().at(-1), { reason: /^(?:login_page|not_logged_in)$/ }, `currentUser: ${none}`)
  }
  behaviour.currentUser = () => undefined
  await at.authorize()
  t.match(events().at(-1), { reason: /^(?:login_page|not_logged_in)$/ }, 'currentUser: undefined')
}

/** The hooks get the portal without its secret, and are not called for a request that is refused before. */
export async function hooks (t: Test, { at, behaviour, portal, recordOf }: Subject): Promise<void> {
  let calls = 0
  const { currentUser } = behaviour
  behaviour.currentUser = (...given) => {
    calls++
    return currentUser(...given)
  }
  behaviour.portalEligibility = (user, { portal: given, request }) => {
    const { clientSecret, ...information } = portal
    t.strictSame([user, { ...given }, request.method], ['ada', information, 'GET'])
    return recordOf('ada')
  }
  t.ok(await at.code())
  t.equal(calls, 1)
  const refused = ['client_id', 'redirect_uri', 'response_type', 'code_challenge']
  for (const name of refused) await at.authorize({ [name]: 'x' })
  await at.authorize({ state: '' })
  t.equal(calls, 1, 'not called for a request that is refused')
}

const OWN_POLICY = "default-src 'self'; frame-ancestors *"

type OwnReply = (reply: FastifyReply) => unknown

const teapot: OwnReply = (reply) => reply.code(418).send('one moment')

/** What a function of the host may reply with: 418 and this text, unless another status and text are given. */
const ownReplies: Record<string, [send: OwnReply, status?: number, text?: string]> = {
  returned: [teapot],
  awaited: [async (reply) => { await teapot(reply) }],
  stream: [(reply) => reply.send(Readable.from(['one ', 'moment'])), 200],
  'and a value': [async (reply) => {
    await teapot(reply)
    return 'ada'
  }],
  'and a throw': [async (reply) => {
    await teapot(reply)
    throw new Error('late')
  }],
  'past Fastify': [(reply) => {
    reply.hijack()
    reply.raw.writeHead(403).end('blocked')
    return 'ada'
  }, 403, 'blocked']
}

/** Which of the host's functions replies, what the event is, and what is logged where it throws after its reply. */
const replying = {
  currentUser: ['login_required', 'current_user_replied', 'current_user_failed'],
  portalEligibility: ['sign_in_refused', 'not_eligible', 'portal_eligibility_failed']
} as const

/** `currentUser` and `portalEligibility` may reply: only headers are added to it, and no code is issued. */
export async function ownReply (t: Test, subject: Subject): Promise<void> {
  const { at, behaviour, events, lines, lowestLevel, portal } = subject
  const { currentUser } = behaviour
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
      t.match(events(), [{ type, reason, clientId: portal.clientId }], row)
      const errors = lines().filter(({ level }) => level === 50).map(({ msg }) => msg)
      const isLogged = name === 'and a throw' && lowestLevel <= 50
      t.strictSame(errors, isLogged ? [`partner-sso: ${failure}, after a reply`] : [], row)
      if (name !== 'past Fastify') hasPolicy(t, response, `${OWN_POLICY}, frame-ancestors 'none'`)
    }
  }
}

const htmlPage = '<h1>Entrada imposible</h1>'

const sendPage: OwnReply = async (reply) => { await reply.code(200).type('text/html; charset=utf-8').send(htmlPage) }

/** What an `errorPage` may do; whether it is a failure, which is logged; whether the page is that of the plugin. */
const ownPages: Record<string, [page: OwnReply, hasFailed: boolean, isOfPlugin: boolean]> = {
  HTML: [() => htmlPage, false, false],
  'a reply with another status': [sendPage, false, false],
  'a rejection': [async (reply) => {
    reply.code(200)
    throw new Error('no template')
  }, true, true],
  'no text': [() => 17, true, true],
  'a throw after the reply': [async (reply) => {
    await sendPage(reply)
    throw new Error('late')
  }, true, false]
}

/** `errorPage` replaces the page, and nothing else. */
export async function errorPage (t: Test, subject: Subject): Promise<void> {
  let page: OwnReply = () => {}
  const given: unknown[] = []
  const { at, events, lines, lowestLevel, portal: { loginUrl } } = await subject.another({
    options: {
      errorPage (refusal: unknown, _request: unknown, reply: FastifyReply) {
        given.push(refusal)
        reply.header('content-security-policy', OWN_POLICY)
        return page(reply) as string
      }
    }
  })
  const { status, error, description } = refusals.redirect_uri_unregistered
  for (const [name, [returned, hasFailed, isOfPlugin]] of Object.entries(ownPages)) {
    page = returned
    given.length = 0
    events()
    lines()
    const response = await at.authorize({ redirect_uri: 'https://zzz.example/' }, null, HTML)
    const [{ reason, requestId } = {}] = events()
    t.equal(reason, 'redirect_uri_unregistered', name)
    t.strictSame(given, [{ status, error, description, reason, loginUrl, requestId }], name)
    const failures = lines().filter(({ msg }) => msg.startsWith('partner-sso: errorPage threw'))
    t.equal(failures.length, hasFailed && lowestLevel <= 50 ? 1 : 0, name)
    if (isOfPlugin) {
      isPage(t, response, 400)
    } else {
      t.strictSame([response.status, response.text], [400, htmlPage], name)
      hasPolicy(t, response, `${OWN_POLICY}, frame-ancestors 'none'`)
    }
  }
  given.length = 0
  refuses(t, await at.authorize({ client_id: 'zzz' }), 400, 'invalid_request')
  t.strictSame(given, [], 'JSON is never replaced')
}
