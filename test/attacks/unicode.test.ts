// Someone uses that texts can look, sort or normalise alike: another spelling of an identifier, a secret or a code
// would then be taken for it. Nothing is normalised, trimmed or folded anywhere: only the same bytes are the same.
import t from 'tap'
import { isAuthorizationCode } from '../../lib/grants/authorization-code.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** Spellings of an ASCII text that some folding, trimming or decoding takes back to it. */
const spellings = (text: string): string[] => [
  text.toUpperCase(), text[0]?.toUpperCase() + text.slice(1), ` ${text}`, `${text} `, `\t${text}`,
  `${text}\n`, `${text}\r\n`, `${text}\0`, `${text}\0x`, `\ufeff${text}`, `${text}\u200b`, `${text}\u00ad`,
  `\u202a${text}\u202c`, `${text}\u0301`, `${text}\ufe0f`,
  text.replace('r', 'ʳ'), text.replace('a', 'ａ'), text.replace('a', 'а'), text.replace('e', 'ｅ'),
  text.replace('-', '\u2010'), text.replace('-', '\u2212'), text.replace(' ', '\u00a0'), text.replace(' ', '+'),
  text.replace('1', '１'), text.replace('1', '¹'), text.replace('s', 'ſ'), text.replace('k', '\u212a'),
  [...text].join('\u200d'), [...text].reverse().join(''),
  text.normalize('NFKD') + '\u034f', encodeURIComponent(text), `"${text}"`, `${text};`, `${text},`,
  text.replaceAll('-', '_')
].filter((spelling) => spelling !== text)

await t.test('identifier, secret, code, verifier', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const refused = async (changes: Record<string, string>, reason: string) => {
    const { status } = await portal.token({ code, ...changes })
    const got = events.at(-1)?.reason
    if (![400, 401].includes(status) || got !== reason) t.fail(`${JSON.stringify(changes)}: ${status} ${got}`)
  }
  for (const spelling of spellings(PORTAL.clientId)) {
    await refused({ client_id: spelling }, 'client_unknown')
    t.equal((await portal.authorize({ client_id: spelling })).status, 400)
    t.equal(events.at(-1)?.reason, 'client_id_unknown')
  }
  const tried: Array<[spellings: string[], parameter: string, reason: (spelling: string) => string]> = [
    [spellings(PORTAL.clientSecret), 'client_secret', () => 'client_secret_wrong'],
    [spellings('authorization_code'), 'grant_type', () => 'grant_type_unsupported'],
    [spellings(code), 'code', (spelling) => isAuthorizationCode(spelling) ? 'code_unknown' : 'code_malformed']
  ]
  for (const [spellings, parameter, reason] of tried) {
    for (const spelling of spellings) await refused({ [parameter]: spelling }, reason(spelling))
  }
  const errorOf = async (changes: Record<string, string>) => (await portal.authorize(changes)).redirect.get('error')
  for (const spelling of spellings('code')) {
    t.equal(await errorOf({ response_type: spelling }), 'unsupported_response_type')
  }
  const challenge = 'c'.repeat(43)
  for (const spelling of spellings('S256')) {
    t.equal(await errorOf({ code_challenge: challenge, code_challenge_method: spelling }), 'invalid_request')
  }
  const short = challenge.slice(1)
  const bad = [`${short}ç`, `${challenge}=`, `${challenge}c`, short, `${short}+`, `${short}\0`, ` ${challenge}`]
  for (const spelling of bad) {
    t.equal(await errorOf({ code_challenge: spelling, code_challenge_method: 'S256' }), 'invalid_request')
  }
  t.equal((await portal.token({ code })).status, 200, 'the code itself is good')
})

await t.test('a record is passed on as it is, whatever is in it', async (t) => {
  const names = [
    'Zoë', 'Zoe\u0308', '\ufeffBOM', 'a\u0000b', '\u2028\u2029', '😀', '\ud83d', '</script>', '"\\',
    '\u202ereversed',
    'ﬁ', 'İ', 'ẞ'
  ]
  for (const name of names) {
    const record = { ...recordOf('x'), external_id: name, name, email: `${name}@x` }
    const { url } = await startHost(t, { portalEligibility: () => record })
    const portal = wire(url)
    t.strictSame((await portal.user(await portal.accessToken())).json, record, Buffer.from(name).toString('hex'))
  }
})
