// Someone sends a user to the authorization endpoint with a redirect_uri that looks like the registered one to a
// person, a prefix check, a suffix check or a URL parser, and waits for the code at a place of their own. Whatever is
// not the registered string itself gets an error page at once, and never a redirection.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'

const REGISTERED = PORTAL.redirectUri
const HOST = 'portal.example'
const PATH = '/oauth/callback'
const EVIL = 'evil.example'

const words = (text: string): string[] => text.trim().split(/\s+/)
const instead = (part: string, others: string[]) => others.map((other) => REGISTERED.replace(part, other))
const behind = (part: string, tails: string[]) => instead(part, tails.map((tail) => part + tail))
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The text with one more text at each place. */
const inserted = (text: string) =>
  Array.from({ length: REGISTERED.length + 1 }, (_, at) => REGISTERED.slice(0, at) + text + REGISTERED.slice(at))

const SPACES = '\t \n \r \r\n \f \v \u00a0 \u2028 \u2029 \u3000 \0 \u200b \ufeff'.split(' ')

const groups: Record<string, string[]> = {
  'upper and lower case': [
    REGISTERED.toUpperCase(), ...instead('https', ['HTTPS', 'Https']), ...instead('portal', ['Portal']),
    ...instead('example', ['EXAMPLE']), ...instead('callback', ['Callback', 'callbacK'])
  ],
  schemes: instead('https', words('http ftp ws file blob:https view-source:https javascript data httpss')),
  'other schemes or none': words(`javascript:alert(1) javascript://portal.example/oauth/callback%0aalert(1) about:blank
    data:text/html,<script>alert(1)</script> / /oauth/callback // . .. # ? null undefined * % https: https:// https:///
    {"$ne":null}`),
  ports: behind(HOST, words(`:443 :80 :0 :65536 :00443 : :-1 :a :443@${EVIL} :443.${EVIL} %3a443`)),
  'user information': instead('://', words(`://a@ ://a:b@ ://@ ://:@ ://${HOST}@ ://${EVIL}@ ://${HOST}%40 ://a%00@`)),
  'a longer host': behind(HOST, [
    ...words(`@${EVIL} %40${EVIL} .${EVIL} -${EVIL} %2e${EVIL} %00.${EVIL} %23@${EVIL} #@${EVIL} ?@${EVIL} \\@${EVIL}
      \\.${EVIL} /@${EVIL} %2f@${EVIL} ;@${EVIL} &@${EVIL} ,${EVIL} . .. %20 .example`),
    ` ${EVIL}`, `\t@${EVIL}`, `\r\n@${EVIL}`
  ]),
  'another host': instead(HOST, words(`${EVIL} ${EVIL}/${HOST} ${EVIL}?${HOST} ${EVIL}#${HOST} ${EVIL}\\${HOST}
    evil${HOST} www.${HOST} .${HOST} portalexample portal-example portal.example.com portal.exampl ortal.example
    localhost 127.0.0.1 [::1] 0x7f.1 2130706433 *.example portal.* %70ortal.example portal%2eexample
    portal.example%252f xn--prtal-jua.example`)),
  'look-alikes and normalisation': instead(HOST, words(`pоrtal.example portal。example portal．example
    portal｡example ｐｏｒｔａｌ.example portal.examp1e portaI.example ⓟortal.example portal.exampﬂe pörtal.example
    portal․example po\u0301rtal.example portal.ex\u2060ample portal.exam\u200bple por\u00adtal.example
    \u202eelpmaxe.latrop`)),
  slashes: [
    ...instead('//', [...words('/ /// //// \\\\ /\\ \\/ %2f%2f /%2f //\\ //%09/'), '', '/ /', '/\t/', '/\n/']),
    ...instead('https://', words('// /// \\\\ https: https:/')), HOST + PATH,
    ...words(`https:\\\\${EVIL} //${EVIL} /\\${EVIL} \\/${EVIL}`)
  ],
  'another path': instead(PATH, ['', ...words(`//oauth/callback \\oauth\\callback /oauth\\callback /oauth//callback
    /oauth%2fcallback %2foauth/callback /oauth%5ccallback /../oauth/callback /./oauth/callback /x/../oauth/callback
    /oauth/./callback /%2e/oauth/callback /%6fauth/callback /oauth/callbac%6b /oauth /oauth/ /callback`)]),
  'a longer path': behind(PATH, words(`/ // \\ /../evil /.. /. /..%2fevil /%2e%2e%2fevil /..;/evil ;a=b ; %00 %00.html
    %0d%0aLocation:%20https://${EVIL} .json /evil evil %20 * ~ /..\\evil /%252e%252e/evil /https://${EVIL} //${EVIL}`)),
  'queries and fragments': behind(PATH, words(`? # ?a=b ?code=x ?error=x #code=x #@${EVIL} ?@${EVIL} ?# %3f %23 & &a=b
    ?redirect_uri=https://${EVIL} %3fa=b = ??`)),
  'two in one': [
    ...[' ', ',', '\n', ''].map((separator) => REGISTERED + separator + REGISTERED),
    ...['/', '?', '#', ' '].map((separator) => `https://${EVIL}${separator}${REGISTERED}`),
    `["${REGISTERED}"]`, `"${REGISTERED}"`, `<${REGISTERED}>`
  ],
  'encoded once more': [
    encodeURIComponent(REGISTERED), encodeURIComponent(encodeURIComponent(REGISTERED)), `${REGISTERED}%`,
    REGISTERED.replaceAll(/[:/.]/g, percent), Buffer.from(REGISTERED).toString('base64')
  ],
  'white space in front and behind': SPACES.flatMap((space) => [space + REGISTERED, REGISTERED + space]),
  'a character anywhere': ['\0', '\t', '\u200d', '\\'].flatMap(inserted),
  'one character gone': Array.from(REGISTERED, (_, at) => REGISTERED.slice(0, at) + REGISTERED.slice(at + 1)),
  'very long': [REGISTERED + 'a'.repeat(6000), `https://${'a.'.repeat(2000)}${HOST}${PATH}`]
}

t.test('every string but the registered one is refused', async (t) => {
  let asked = 0
  const { app, events } = await startHost(t, {
    currentUser () {
      asked++
      return { id: 'alice', eligible: true }
    }
  })
  const portal = wire('', PORTAL, { fetch: injecting(app) })
  const code = await portal.code()
  const accept = { accept: 'text/html' }
  for (const [group, variants] of Object.entries(groups)) {
    for (const variant of variants) {
      const { status, headers, text } = await portal.authorize({ redirect_uri: variant }, 'alice', accept)
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
