// Someone reads the log of the partner's app, written at `trace`, while users sign in: it has no secret and names no
// user. Every reason to refuse is provoked once, with the credentials, codes and tokens in all the wrong places. URLs:
// attacks/secrets-in-urls. A dump of the store: contract/checks/store.
// Alone: it looks for secrets in all that is logged.
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoEvent, PartnerSsoOptions } from '../../lib/index.ts'
import { refusals } from '../contract/refusals.ts'
import { PORTAL, RECORDS, startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'
import { VERIFIER, wire } from '../wire.ts'
import type { Wire } from '../wire.ts'

const SECRETS = [PORTAL.clientSecret, 'the-secret-that-is-being-rotated-in']
const WRONG = 'a-wrong-secret-that-may-be-right-elsewhere'
const USERS = Object.values(RECORDS)

/** The value in each way that someone may write it: as it is, encoded, or a part of a long one. */
function spellings (value: string): string[] {
  const bytes = Buffer.from(value)
  const isSecret = /^[\w-]{43,}$/.test(value)
  const parts = Array.from({ length: isSecret ? value.length - 15 : 0 }, (_, index) => value.slice(index, index + 16))
  return [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64').replaceAll('=', '').slice(0, -1),
    bytes.join(),
    ...parts
  ]
}

/** The portal's requests with secrets in all the wrong places. All codes and tokens that it gets are noted. */
function careless (at: Wire, confidential: Set<string>): Wire {
  const secret = PORTAL.clientSecret
  return {
    ...at,
    async authorize (changes, user, headers, more = '') {
      const query = new URLSearchParams({ client_secret: secret, access_token: WRONG, code: WRONG })
      const response = await at.authorize(changes, user, headers, `${more}&${query}`)
      confidential.add(response.redirect.get('code') ?? WRONG)
      return response
    },
    async token (changes, headers) {
      const more = { username: RECORDS.ada.email, password: secret, access_token: WRONG }
      const response = await at.token({ ...more, ...changes }, headers)
      confidential.add(/"access_token":"([^"]*)"/.exec(response.text)?.[1] ?? WRONG)
      return response
    },
    user: (token, headers) => at.user(token, { cookie: `token=${token}`, 'x-secret': secret, ...headers })
  }
}

/** Nothing confidential is in the log or in the events of an app that is used so. */
async function logsNoSecret (
  t: Test, options: Partial<PartnerSsoOptions<string>>, use: (at: Wire, events: PartnerSsoEvent[]) => Promise<unknown>
): Promise<void> {
  const log = capture()
  const confidential = new Set([
    ...SECRETS, WRONG, VERIFIER, 'the old one', ...USERS.flatMap(({ email, name }) => [email, name])
  ])
  const portal = { ...PORTAL, clientSecret: SECRETS }
  const { url, events } = await startApp(t, { options: { portal, ...options }, server: { logger: log.logger } })
  await use(careless(wire(url), confidential), events)
  t.match(log.text(), '"msg":"request completed"')
  const text = log.text() + JSON.stringify(events)
  const found = [...confidential].filter((value) => spellings(value).some((spelling) => text.includes(spelling)))
  t.strictSame(found, [])
}

t.test('a sign-in, and each refusal', async (t) => {
  await logsNoSecret(t, {}, async (at) => t.equal((await at.user(await at.accessToken())).status, 200))
  for (const [reason, { options, provoke }] of Object.entries(refusals)) {
    await logsNoSecret(t, options ?? {}, async (at, events) => {
      await provoke(at)
      t.equal(events.at(-1)?.reason, reason, reason)
    })
  }
})

t.test("the host's own log serializers keep working: the nearest to the route", async (t) => {
  const from = (mine: string) => ({ req: ({ url }: { url: string }) => ({ mine, url }) })
  const [logSerializers, ofRoute] = [from('options'), from('route')]
  const routes = { logSerializers: ofRoute } as object
  for (const [nearest, options] of Object.entries({
    logger: {}, options: { logSerializers }, route: { logSerializers, routeOptions: routes }
  })) {
    const log = capture()
    const logger = { ...log.logger, serializers: from('logger') }
    const { url } = await startApp(t, { options, server: { logger } })
    await wire(url).send('/oauth/user?access_token=abc')
    t.match(log.text(), `"req":{"mine":"${nearest}","url":"/oauth/user?…"}`, nearest)
  }
})
