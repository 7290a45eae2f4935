// Invalid requests that a developer tries on purpose: what each says of a correct service and of one with a mistake.
import t from 'tap'
import { rejectedAt, type Trial, TRIALS as ALL } from '../../../lib/simulator/serve/trials.ts'
import { failure } from '../../../lib/testing/failure.ts'
import { integration } from '../../../lib/testing/settings.ts'
import { SignIn } from '../../../lib/testing/legs.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { type Mistake, RECORDS, SETTINGS } from '../../helpers/spec-server.ts'
import { simulator, start } from './scene.ts'

type Tone = 'good' | 'bad' | 'wait'

type Case = [trial: string, mistakes: Mistake[], tone: Tone, title: string, sentence: RegExp, user?: string]

const TRIALS: Case[] = [
  ['replayed-code', [], 'good', 'Rejected, as it should be', /400 with the error invalid_grant/],
  ['replayed-code', ['reusable-code'], 'bad', 'The service accepted it', /Remove the code/],
  ['replayed-code', ['plain-errors'], 'good', 'Rejected, as it should be', /The error should be invalid_grant\./],
  ['replayed-code', ['html-token'], 'bad', 'The sign-in stopped at step 12', /application\/json/],
  ['wrong-secret', [], 'good', 'Rejected, as it should be', /invalid_client \(Refused\.\) The code stayed valid\./],
  ['wrong-secret', ['burns-code'], 'bad', 'Rejected, but the code is used up', /Check the credentials before/],
  ['wrong-secret', ['any-secret'], 'bad', 'The service accepted it', /Check client_id and client_secret/],
  ['foreign-redirect-uri', [], 'good', 'Rejected, as it should be', /400 with text\/html/],
  ['foreign-redirect-uri', ['any-redirect-uri'], 'bad', 'The service asks for a login first', /before the login/],
  ['foreign-redirect-uri', ['any-redirect-uri', 'no-login-check'], 'bad', 'The service accepted it', /whole strings/],
  ['expired-code', [], 'good', 'Rejected, as it should be', /invalid_grant/],
  ['expired-code', ['code-never-expires'], 'bad', 'The service accepted it', /Let codes expire/],
  ['ineligible-user', [], 'good', 'Rejected, as it should be', /access_denied/, 'eve'],
  ['ineligible-user', [], 'wait', 'Ada Lovelace was let in', /as a user who may not use the portal, then try/],
  ['ineligible-user', ['wrong-role'], 'wait', 'This user was let in', /then try again/],
  ['ineligible-user', ['state-lost'], 'good', 'Rejected, as it should be', /access_denied/, 'eve'],
  ['ineligible-user', ['state-lost'], 'wait', 'The trial could not be made', /another reason: no state/]
]

await t.test('the start page offers them: what each does, and what a correct service answers', async (t) => {
  const { origin, browser } = await simulator(t)
  const { text } = await browser.open(origin)
  const list = /<ul class="trials">([^]*?)<\/ul>/.exec(text)?.[1] ?? ''
  t.strictSame(list.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim(), [
    'Replayed code', 'Signs in, then sends the used code to the token endpoint again.',
    'The second request is rejected with invalid_grant. Try',
    'Wrong secret', 'Sends a valid code with a wrong client_secret, then with the right one.',
    'The first request is rejected with invalid_client, and the code stays valid. Try',
    'Foreign redirect_uri', 'Requests a code for a redirect_uri that is not registered.',
    'The service returns an error page and does not redirect. Try',
    'Expired code', 'Waits until the lifetime of the code is over, then sends it.',
    'The request is rejected with invalid_grant. Try',
    'User not eligible',
    'Signs in. Before you start, log in at your application as a user who may not use the portal.',
    'The browser comes back with access_denied and no code. Try'
  ].join(' '))
})

for (const [trial, mistakes, tone, title, sentence, user] of TRIALS) {
  await t.test(`${trial}: ${[...mistakes, user ?? ''].join(' ')}`, async (t) => {
    const flags = ['--code-lifetime', '0']
    // Codes of the other trials must not expire, however slow the machine is.
    const lifetime = trial === 'expired-code' ? 0.3 : 60
    const { origin, browser } = await simulator(t, { mistakes, flags, user, lifetime })
    const page = await browser.signIn(start(origin, trial))
    t.match(page.text, `<h1>${title}</h1>`)
    t.match(page.text.replace(/&#39;/g, '\''), sentence)
    t.match(page.text, `<span class="chip ${tone}">Trial: `)
    const stopped = [...page.text.matchAll(/ Step \d+, (failed|rejected as expected)</g)].map(([, state]) => state)
    t.strictSame(stopped, stopped.map(() => tone === 'good' ? 'rejected as expected' : 'failed'))
    if (tone === 'good') {
      t.notMatch(page.text, 'What went wrong')
      const isBeside = trial === 'replayed-code' || trial === 'wrong-secret'
      t.equal(page.text.includes('<h2 id="probes">The trial</h2>'), isBeside, 'requests beside the fifteen steps')
    }
  })
}

await t.test('a trial whose own request is not answered judges nothing', async (t) => {
  let redirectUri = ''
  let cut = (): void => {}
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname !== '/oauth/authorize') {
      cut = () => { response.destroy() }
      return
    }
    response.writeHead(302, { Location: `${redirectUri}?code=the-code&state=${searchParams.get('state')}` }).end()
  })
  const { origin, browser } = await simulator(t, { flags: ['--timeout', '60'], baseUrl })
  redirectUri = `${origin}/oauth/callback`
  const page = await browser.open(start(origin, 'wrong-secret'))
  t.match(page.text, 'The next step is in progress.')
  cut()
  const ended = await browser.ended(page)
  t.match(ended.text, 'The trial could not be made')
  t.match(ended.text, 'closed the connection')
  t.match((await browser.open(`${page.url}?secrets=shown`)).text, '<dd>the-code</dd>')
})

await t.test('what has nothing to do with the trial judges nothing, though it comes at the step in question', (t) => {
  const trial = ALL.find(({ id }) => id === 'expired-code') as Trial
  const outcome = (error: string): string => {
    const flow = new SignIn(integration({ ...SETTINGS, baseUrl: 'https://partner.example' }))
    flow.failed(failure(10, error, 'a token', 'something else'), {
      request: { method: 'GET', url: 'http://x', headers: [] }, milliseconds: 1
    })
    return rejectedAt([9, 10], trial, flow).outcome
  }
  for (const error of [
    'unreachable', 'timeout', 'not_http', 'tls', 'hung_up', 'too_large', 'login_required', 'not_found', 'server_error',
    'temporarily_unavailable', 'redirected', 'forbidden'
  ]) t.equal(outcome(error), 'untested', error)
  for (const error of ['invalid_grant', 'invalid_request', 'refused']) t.equal(outcome(error), 'pass', error)
  t.end()
})

await t.test('the token that a trial was given is hidden wherever the service repeats it', async (t) => {
  let redirectUri = ''
  let tokens = 0
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname === '/oauth/authorize') {
      const Location = `${redirectUri}?code=the-code&state=${searchParams.get('state')}`
      response.writeHead(302, { Location }).end()
      return
    }
    const json = { 'Content-Type': 'application/json' }
    if (pathname === '/oauth/user') {
      response.writeHead(200, json).end(JSON.stringify(RECORDS.ada))
      return
    }
    const token = `the-token-${++tokens}`
    const body = JSON.stringify({ token_type: 'Bearer', access_token: token, said: `here is ${token}` })
    response.writeHead(200, json).end(body)
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  redirectUri = `${origin}/oauth/callback`
  const { text } = await browser.signIn(start(origin, 'replayed-code'))
  t.equal(tokens, 2)
  t.match(text, 'The service accepted it')
  t.notMatch(text, /the-token-\d/)
})
