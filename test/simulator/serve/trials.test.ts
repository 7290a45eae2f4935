// Invalid requests that a developer tries on purpose: what each says of a correct service and of one with a mistake.
import t from 'tap'
import type { Store } from '../../../lib/index.ts'
import { TRIALS as ALL } from '../../../lib/simulator/serve/trials.ts'
import { sendingBack } from '../../helpers/responses.ts'
import { jsonAt, sentAt } from '../../helpers/partner.ts'
import type { Change } from '../../helpers/partner.ts'
import { simulator, start } from '../../helpers/serve.ts'

/** A store that keeps what it is asked to remove, for as long as it likes. */
const forgetful = (): Store => {
  const values = new Map<string, string>()
  return {
    async put (key, value) { return Boolean(values.set(key, value)) },
    async take (key) { return values.get(key) ?? null },
    async revoke () { return null }
  }
}

type Outcome = 'pass' | 'fail' | 'untested'

type Case = [trial: string, change: Change, outcome: Outcome, title: string, sentence: RegExp, user?: string]

const PASS = 'Rejected, as it should be'
const FAIL = 'The service fails this trial'

/** After one refusal every code is refused. */
function burning (): Change {
  let refused = false
  return sentAt('/oauth/token', (payload, _request, reply) => {
    if (refused) reply.code(400)
    refused ||= reply.statusCode === 401
    return reply.statusCode === 400 ? '{"error":"invalid_grant"}' : payload
  })
}
const toAnybody: Change = {
  prepare: (app) => app.addHook('onSend', async ({ url }, reply, payload) => {
    const uri = new URL(url, 'http://x').searchParams.get('redirect_uri')
    if (reply.statusCode === 400 && uri !== null) reply.code(302).header('location', uri)
    return payload
  })
}

const wrongRecord = jsonAt('/oauth/user', { control_role: 'Boss' })

const TRIALS: Case[] = [
  ['replayed-code', {}, 'pass', PASS, /A used code is refused\./],
  ['replayed-code', { options: { store: forgetful() } }, 'fail', FAIL, /one atomic command/],
  ['wrong-secret', {}, 'pass', PASS, /leaves the code as it was\./],
  ['wrong-secret', burning(), 'fail', FAIL, /repeats the request/],
  ['foreign-redirect-uri', {}, 'pass', PASS, /nobody is redirected there/],
  ['foreign-redirect-uri', toAnybody, 'fail', FAIL, /leave it as it is/],
  ['expired-code', {}, 'pass', PASS, /and expires\./],
  ['expired-code', { options: { store: forgetful() } }, 'fail', FAIL, /in seconds/],
  ['ineligible-user', {}, 'pass', PASS, /with access_denied/, 'eve'],
  ['ineligible-user', {}, 'untested', 'Ada Lovelace was let in', /as a user who may not use the portal, then try/],
  ['ineligible-user', wrongRecord, 'fail', 'The sign-in stopped at step 15', /Correct the record/]
]

t.test('the start page offers them: what each does, and what a correct service does', async (t) => {
  const { origin, browser } = await simulator(t)
  const { text } = await browser.open(origin)
  const [, list = ''] = /<h2 id="trials">[^]*?<ul>([^]*?)<\/ul>/.exec(text) ?? []
  const words = list.replace(/<[^>]*>/g, ' ').trim()
  const expected = ALL.map(({ title, does, rule }) => `${title} ${does} ${rule.sentence} Try`)
  t.equal(words.replace(/\s+/g, ' '), expected.join(' '))
})

for (const [row, [trial, change, outcome, title, sentence, user]] of TRIALS.entries()) {
  t.test(`${row}: ${trial}: ${title} ${user ?? ''}`, async (t) => {
    const flags = ['--code-lifetime', '1']
    // Codes of the other trials must not expire, however slow the machine is.
    const lifetime = trial === 'expired-code' ? 1 : 60
    const { origin, browser } = await simulator(t, { change, flags, user, lifetime })
    const page = await browser.signIn(start(origin, trial))
    t.match(page.text, `<h1>${title}</h1>`)
    t.match(page.text.replace(/&#39;/g, '\''), sentence)
    t.match(page.text, `<span class="chip ${outcome}">Trial: `)
    t.equal(page.text.includes('What went wrong'), title.startsWith('The sign-in stopped'))
    t.equal(page.text.includes('rejected as expected'), title === PASS && user === 'eve')
    t.match(page.text, '<h2 id="trial">The trial</h2>')
    if (title === PASS) t.match(page.text, '<span class="chip pass">pass</span>')
  })
}

t.test('a trial whose own request gets no response judges nothing', async (t) => {
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
