// Invalid requests that a developer tries on purpose: what each says of a correct service and of one with a mistake.
import t from 'tap'
import { TRIALS as ALL } from '../../../lib/simulator/serve/trials.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { RECORDS } from '../../helpers/spec-server.ts'
import type { Mistake } from '../../helpers/spec-server.ts'
import { simulator, start } from './scene.ts'

type Tone = 'good' | 'bad' | 'wait'

type Case = [trial: string, mistakes: Mistake[], tone: Tone, title: string, sentence: RegExp, user?: string]

const PASS = 'Rejected, as it should be'
const FAIL = 'The service fails this trial'
const UNTESTED = 'The trial could not be made'

const TRIALS: Case[] = [
  ['replayed-code', [], 'good', PASS, /A used code is refused\./],
  ['replayed-code', ['reusable-code'], 'bad', FAIL, /Remove the code/],
  ['replayed-code', ['html-token'], 'bad', 'The sign-in stopped at step 12', /application\/json/],
  ['wrong-secret', [], 'good', PASS, /leaves the code as it was\./],
  ['wrong-secret', ['burns-code'], 'bad', FAIL, /Check the credentials before/],
  ['wrong-secret', ['any-secret'], 'bad', FAIL, /Check the credentials before/],
  ['foreign-redirect-uri', [], 'good', PASS, /never redirected to/],
  ['foreign-redirect-uri', ['any-redirect-uri'], 'wait', UNTESTED, /login first/],
  ['foreign-redirect-uri', ['any-redirect-uri', 'no-login-check'], 'bad', FAIL, /whole strings/],
  ['expired-code', [], 'good', PASS, /A code expires\./],
  ['expired-code', ['code-never-expires'], 'bad', FAIL, /Let codes expire/],
  ['ineligible-user', [], 'good', PASS, /error=access_denied/, 'eve'],
  ['ineligible-user', [], 'wait', 'Ada Lovelace was let in', /as a user who may not use the portal, then try/],
  ['ineligible-user', ['wrong-role'], 'bad', 'The sign-in stopped at step 15', /Correct the record/],
  ['ineligible-user', ['state-lost'], 'bad', FAIL, /and the state/, 'eve']
]

await t.test('the start page offers them: what each does, and what a correct service does', async (t) => {
  const { origin, browser } = await simulator(t)
  const { text } = await browser.open(origin)
  const [, list = ''] = /<h2 id="trials">[^]*?<ul>([^]*?)<\/ul>/.exec(text) ?? []
  const said = list.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim()
  t.equal(said, ALL.map(({ title, does, rule }) => `${title} ${does} ${rule.sentence} Try`).join(' '))
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
    t.equal(page.text.includes('What went wrong'), title.startsWith('The sign-in stopped'))
    t.match(page.text, '<h2 id="trial">The trial</h2>')
    if (title === PASS) t.match(page.text, '<span class="chip good">passes</span>')
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
  t.match(page.text, '<h1>In progress</h1>')
  cut()
  const ended = await browser.ended(page)
  t.match(ended.text, 'The trial could not be made')
  t.match(ended.text, 'closed the connection without a response')
  t.match(ended.text, 'See the log of the service: a process or proxy closed the connection.')
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
  t.match(text, FAIL)
  t.notMatch(text, /the-token-\d/)
})
