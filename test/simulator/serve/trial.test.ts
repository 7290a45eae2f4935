// The one trial: a user who may not enter. What the page says of a correct service and of one with a mistake.
import t from 'tap'
import { TRIAL } from '../../../lib/simulator/serve/trial.ts'
import { jsonAt } from '../../app.ts'
import type { Change } from '../../app.ts'
import { redirected, simulator, start } from './scene.ts'

t.test('the start page offers it: what it does, and what a correct service does', async (t) => {
  const { origin, browser } = await simulator(t)
  const { text } = await browser.open(origin)
  const [, offer = ''] = /<h2 id="trial-offer">([^]*?)<\/section>/.exec(text) ?? []
  const words = offer.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim()
  t.equal(words, `Try a user who may not enter ${TRIAL.title} ${TRIAL.does} ${TRIAL.rule.sentence} Try`)
  t.match(offer, 'href="/external-oauth/local?trial=ineligible-user"')
})

/** A proxy that replaces the error of a refused sign-in. */
const otherError: Change = {
  prepare: (app) => app.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string') reply.header('location', location.replace('access_denied', 'server_error'))
  })
}

for (const [name, change, user, verdict, title, sentence] of [
  ['the user is refused', {}, 'eve', 'pass', 'The user was refused, and the portal knows it', /access_denied/],
  ['another error is sent', otherError, 'eve', 'fail', 'The user was not refused as the portal expects', /`err`/],
  ['the user is let in', {}, 'ada', 'untested', 'Ada Lovelace was let in', /as a user who may not/],
  ['the sign-in fails', jsonAt('/oauth/user', { control_role: 'Boss' }), 'ada', 'fail',
    'The sign-in stopped at step 15', /Correct the record/]
] as const) {
  t.test(name, async (t) => {
    const { origin, browser } = await simulator(t, { change, user })
    const { text } = await browser.signIn(start(origin, 'ineligible-user'))
    t.match(text, `<h1>${title}</h1>`)
    t.match(text, sentence)
    t.match(text, `<span class="chip ${verdict}">Trial: User not eligible`)
    t.equal(text.includes('What went wrong'), title.startsWith('The sign-in stopped'))
    t.equal(text.includes('refused as expected'), verdict === 'pass', 'the step of the refusal is no failure')
    t.equal(text.includes('<h2 id="trial">The trial</h2>'), name === 'another error is sent')
    t.notMatch(text, 'id="trial-offer"')
    t.match(text, 'href="/external-oauth/local?trial=ineligible-user">Try again</a>')
  })
}

t.test('while the browser is away, its page says that a page of the application may be the end', async (t) => {
  const { origin, browser } = await simulator(t, { user: 'eve' })
  await redirected(browser, start(origin, 'ineligible-user'))
  const home = await browser.open(origin)
  const [path = ''] = /\/sign-ins\/[\w-]+/.exec(home.text) ?? []
  t.match((await browser.open(origin + path)).text, 'the browser stays there, and that is right')
})
