// Invalid requests that a developer tries on purpose: what each says of a correct service and of one with a mistake.
import t from 'tap'
import { TRIALS as ALL } from '../../../lib/simulator/serve/trials.ts'
import { RECORDS } from '../../helpers/service.ts'
import { respond, sendingBack } from '../../helpers/spec-server.ts'
import type { Mistake } from '../../helpers/mistakes.ts'
import { simulator, start } from '../../helpers/serve.ts'

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
    t.equal(page.text.includes('rejected as expected'), title === PASS && user === 'eve')
    t.match(page.text, '<h2 id="trial">The trial</h2>')
    if (title === PASS) t.match(page.text, '<span class="chip good">passes</span>')
  })
}

await t.test('a trial whose own request gets no response judges nothing', async (t) => {
  let cut = (): void => {}
  const baseUrl = await sendingBack(t, (_path, response) => { cut = () => { response.destroy() } })
  const { origin, browser } = await simulator(t, { baseUrl })
  const page = await browser.open(start(origin, 'wrong-secret'))
  t.match(page.text, '<h1>In progress</h1>')
  cut()
  const { text } = await browser.ended(page)
  t.match(text, 'The trial could not be made')
  t.match(text, 'See the log of the service: a process or proxy closed the connection.')
})

await t.test('the token that a trial was given is hidden wherever the service repeats it', async (t) => {
  let tokens = 0
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/user') return respond(response, 200, RECORDS.ada)
    const token = `the-token-${++tokens}`
    return respond(response, 200, { token_type: 'Bearer', access_token: token, said: `here is ${token}` })
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  const { text } = await browser.signIn(start(origin, 'replayed-code'))
  t.equal(tokens, 2)
  t.match(text, FAIL)
  t.notMatch(text, /the-token-\d/)
})
