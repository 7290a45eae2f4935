// Someone sends a user to the authorization endpoint with a redirect_uri that looks like the registered one to a
// person, a prefix check, a suffix check or a URL parser, and waits for the code at a place of their own. Whatever is
// not the registered string itself gets an error page at once, and never a redirection.
import t from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { inProcess } from '../wire.ts'

const REGISTERED = PORTAL.redirectUri
const HOST = 'portal.example'
const EVIL = 'evil.example'

const words = (text: string): string[] => text.trim().split(/\s+/)
const instead = (part: string, others: string) => words(others).map((other) => REGISTERED.replace(part, other))

/** One or two for each way in which someone may compare: case, prefix, suffix, pattern, parser, decoder, trimming. */
const groups: Record<string, string[]> = {
  'upper and lower case': [REGISTERED.toUpperCase(), ...instead('https', 'HTTPS'), ...instead('callback', 'Callback')],
  scheme: [...instead('https', 'http javascript'), ...words('javascript:alert(1) data:text/html,<script> / // null')],
  'port and user information': instead(HOST, `${HOST}:443 ${HOST}: a@${HOST} ${EVIL}@${HOST} ${HOST}@${EVIL}`),
  'a longer host': instead(HOST, `${HOST}.${EVIL} ${HOST}%00.${EVIL} ${HOST}#@${EVIL} ${HOST}\\@${EVIL} ${HOST}.`),
  'another host': instead(HOST, `${EVIL} ${EVIL}/${HOST} ${EVIL}?${HOST} evil${HOST} www.${HOST} portalXexample *`),
  'look-alikes and normalisation': instead(HOST, 'pоrtal.example portal。example ｐｏｒｔａｌ.example pörtal.example'),
  slashes: [...instead('//', '/ /// \\\\ %2f%2f'), ...words(`//${EVIL} /\\${EVIL} https:\\\\${EVIL}`)],
  path: instead('/oauth/callback', `/ /oauth/../oauth/callback /oauth%2fcallback /%6fauth/callback /oauth/callback/
    /oauth/callback/../evil /oauth/callback;a=b /oauth/callback.json /oauth/callback%00 /oauth/callbac`),
  'queries and fragments': instead('callback', `callback? callback# callback?a=b callback?code=x callback#@${EVIL}`),
  'two in one': [' ', ','].map((separator) => REGISTERED + separator + REGISTERED),
  'at the end of another': words(`https://${EVIL}/${REGISTERED} https://${EVIL}?${REGISTERED} "${REGISTERED}"`),
  'encoded once more': [encodeURIComponent(REGISTERED), `${REGISTERED}%`],
  'white space': ['\t', '\n', '\0', '\u00a0'].flatMap((space) => [space + REGISTERED, REGISTERED + space]),
  'very long': [REGISTERED + 'a'.repeat(6000)]
}

t.test('every string but the registered one is refused', async (t) => {
  let asked = 0
  const { app, events } = await startApp(t, { options: {
    currentUser () {
      asked++
      return 'ada'
    }
  } })
  const portal = inProcess(app)
  const code = await portal.code()
  const accept = { accept: 'text/html' }
  for (const [group, variants] of Object.entries(groups)) {
    for (const variant of variants) {
      const { status, headers, text } = await portal.authorize({ redirect_uri: variant }, 'ada', accept)
      const shown = `${group}: ${encodeURIComponent(variant).slice(0, 200)}`
      t.strictSame([status, headers.get('location'), text.includes(EVIL)], [400, null, false], shown)
      t.match(events.at(-1), { reason: 'redirect_uri_unregistered', expected: REGISTERED }, shown)
      // And the code is not redeemed for a request with another redirect_uri (RFC 6749 section 4.1.3).
      t.equal((await portal.token({ code, redirect_uri: variant })).status, 400, shown)
      t.match(events.at(-1), { reason: 'redirect_uri_mismatch' }, shown)
    }
  }
  t.equal(asked, 1, 'no hook was asked for them')
  t.equal((await portal.token({ code })).status, 200, 'and the code is still good')
})
