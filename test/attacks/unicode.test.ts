// Someone exploits that texts can look, sort or normalise alike: another spelling of an identifier, a secret or a code
// would then be taken for it. Nothing is normalised, trimmed or folded anywhere: only the same bytes are the same.
import t from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { inProcess } from '../wire.ts'

/** The same character as East Asian texts have it, which normalisation (NFKC) makes the ASCII one. */
const fullWidth = (character: string): string => String.fromCharCode(character.charCodeAt(0) + 0xfee0)

/** Spellings of an ASCII text that some folding, trimming or decoding turns into it. */
const spellings = (text: string): string[] => [
  text.toUpperCase(),
  ` ${text}`,
  `${text}\n`,
  `${text}\0x`,
  `${text}\u0301`,
  text.replace(/^./, fullWidth),
  text.replace(/.$/, fullWidth),
  encodeURIComponent(text)
].filter((spelling) => spelling !== text)

t.test('identifier, secret, code, challenge', async (t) => {
  const { app, events } = await startApp(t)
  const portal = inProcess(app)
  const code = await portal.code()
  const tried: Array<[at: 'authorize' | 'token', name: string, text: string, reason: RegExp]> = [
    ['token', 'client_id', PORTAL.clientId, /^client_unknown$/],
    ['token', 'client_secret', PORTAL.clientSecret, /^client_secret_wrong$/],
    ['token', 'grant_type', 'authorization_code', /^grant_type_unsupported$/],
    ['token', 'code', code, /^code_(?:unknown|malformed)$/],
    ['authorize', 'client_id', PORTAL.clientId, /^client_id_unknown$/],
    ['authorize', 'response_type', 'code', /^response_type_unsupported$/],
    ['authorize', 'code_challenge_method', 'S256', /^code_challenge_method_unsupported$/]
  ]
  for (const [at, name, text, reason] of tried) {
    for (const spelling of spellings(text)) {
      await portal[at]({ code, code_challenge: 'c'.repeat(43), [name]: spelling })
      t.match(events.at(-1), { reason }, `${name} ${encodeURIComponent(spelling)}`)
    }
  }
  t.equal((await portal.token({ code })).status, 200, 'the code itself is good')
})
