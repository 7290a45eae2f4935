// The token endpoint and replays, also where the registration of the portal has changed meanwhile.
import type { Test } from 'tap'
import type { RefusalReason } from '../../../lib/index.ts'
import { basic, basicAsSent, CHALLENGE, challenge, tokenForm, VERIFIER } from '../../wire.ts'
import type { Changes } from '../../wire.ts'
import { refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

const noCredentials = { client_id: undefined, client_secret: undefined }

type Request = [changes: Changes, headers: Record<string, string>]

/** A client_id that HTTP Basic has in two spellings: form-encoded, as RFC 6749 has it, and as it is. */
export async function encodedClientId (t: Test, subject: Subject): Promise<void> {
  const clientId = 'partner +1 %41'
  const { at, events, portal: { clientSecret } } = await subject.another({ portal: { clientId } })
  for (const [name, header] of Object.entries({
    'form-encoded': basic(clientId, clientSecret), 'as it is': basicAsSent(clientId, clientSecret)
  })) {
    const code = await at.code()
    for (const another of ['partner +1 A', 'partner++1+%2541']) {
      const response = await at.token({ code, client_id: another, client_secret: undefined }, header)
      refuses(t, response, 400, 'invalid_request', `${name}: ${another}`)
      t.match(events().at(-1), { reason: 'authentication_repeated' }, `${name}: ${another}`)
    }
    const response = await at.token({ code, client_id: clientId, client_secret: undefined }, header)
    t.equal(response.status, 200, `the same client_id in the form is no second method: ${name}`)
  }
}

/** The form or HTTP Basic, never both. Malformed headers: attacks/authorization-header. */
export async function authentication (t: Test, { at, events, portal }: Subject): Promise<void> {
  const { clientId, clientSecret } = portal
  const header = basic(clientId, clientSecret)
  const malformed = { authorization: 'Basic !' }
  const accepted: Request[] = [
    [{ client_secret: undefined }, header],
    [{ ...noCredentials, client_secret: '' }, header],
    [noCredentials, basicAsSent(clientId, clientSecret)],
    [{}, { authorization: 'Bearer x' }]
  ]
  for (const [changes, headers] of accepted) {
    const code = await at.code()
    t.equal((await at.token({ code, ...changes }, headers)).status, 200, JSON.stringify([changes, headers]))
  }

  const code = await at.code()
  const repeated: Request[] = [
    [{ client_id: 'another', client_secret: undefined }, header],
    [{}, basic('someone', 'wrong')],
    [{ client_id: undefined }, malformed]
  ]
  for (const [changes, headers] of repeated) {
    refuses(t, await at.token({ code, ...changes }, headers), 400, 'invalid_request')
    t.match(events().at(-1), { reason: 'authentication_repeated' }, JSON.stringify([changes, headers]))
  }

  const failures: Request[] = [
    [{ client_id: 'someone' }, {}],
    [{ client_secret: `${clientSecret}x` }, {}],
    [noCredentials, basic(clientId, 'wrong')],
    [noCredentials, malformed]
  ]
  const seen = new Set<string>()
  for (const [changes, headers] of failures) {
    const response = await at.token({ code, ...changes }, headers)
    refuses(t, response, 401, 'invalid_client')
    const sent = [...response.headers].filter(([name]) => name !== 'date')
    seen.add(JSON.stringify([sent, response.text]))
  }
  t.equal(seen.size, 1, 'an unknown client and a wrong secret look the same')

  refuses(t, await at.token({ code, ...noCredentials }, { authorization: 'Bearer x' }), 401, 'invalid_client')
  t.match(events().at(-1), { reason: 'authentication_missing' })
  t.equal((await at.token({ code })).status, 200, 'the code is still good')
}

const FORM = 'application/x-www-form-urlencoded'

/** What is added to a good form; its content type; the reason why it is refused. */
const bodies: Array<[more: string, type: string | undefined, reason: RefusalReason]> = [
  ['', `${FORM}-x`, 'content_type_unsupported'],
  ['', undefined, 'content_type_unsupported'],
  ['&x=%ff', FORM, 'body_unreadable'],
  ['&x=\xff', FORM, 'body_unreadable'],
  [`&x=${'y'.repeat(2 ** 15)}`, FORM, 'body_unreadable'],
  ['&x=y'.repeat(1000), FORM, 'parameters_excessive']
]

/** Nothing else than a form is read; the code stays good. Repeated parameters: attacks/parameter-pollution. */
export async function form (t: Test, { at, events }: Subject): Promise<void> {
  const code = await at.code()
  await at.token({ code, client_id: '' })
  t.match(events().at(-1), { reason: 'client_id_missing' })
  for (const [more, type, reason] of bodies) {
    const headers = type === undefined ? {} : { 'content-type': type }
    const body = Buffer.from(`${tokenForm(code)}${more}`, 'latin1')
    refuses(t, await at.send('/oauth/token', { method: 'POST', headers, body }), 400, 'invalid_request', reason)
    t.match(events().at(-1), { reason }, reason)
  }
  // A charset says nothing (RFC 6749 appendix B), nor does the case (RFC 9110 section 8.3.1).
  const latin = { 'content-type': 'Application/X-WWW-form-urlencoded ; charset=ISO-8859-1' }
  t.equal((await at.token({ code }, latin)).status, 200, 'the code is still good')
}

/** RFC 7636: with the verifier a code gets its token; after a wrong one the code stays consumed. */
export async function pkce (t: Test, { at, events }: Subject): Promise<void> {
  const good = await at.code('ada', challenge())
  t.equal((await at.token({ code: good, code_verifier: VERIFIER })).status, 200)
  const code = await at.code('ada', challenge())
  refuses(t, await at.token({ code, code_verifier: CHALLENGE }), 400, 'invalid_grant', 'the method plain')
  refuses(t, await at.token({ code, code_verifier: VERIFIER }), 400, 'invalid_grant')
  t.match(events().at(-1), { reason: 'code_unknown' }, 'there was no token to revoke')
}

/** RFC 6749 section 4.1.2: an authenticated replay of a code revokes its token, whatever was changed in between. */
export async function replay (t: Test, subject: Subject): Promise<void> {
  const { at, portal: { clientId, clientSecret, level } } = subject
  const changed = await subject.another({
    portal: {
      loginUrl: 'https://portal.example/external-oauth/new',
      redirectUri: 'https://portal.example/new',
      clientSecret: ['another', clientSecret],
      level: level === 'client' ? 'partner' : 'client'
    }
  })
  for (const [name, { at: later, events }] of Object.entries({ unchanged: subject, changed })) {
    const code = await at.code()
    const { access_token: token } = (await at.token({ code })).json
    events()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(events(), [{ type: 'code_replayed', reason: 'code_replayed', clientId, externalId: 'u-1' }], name)
    refuses(t, await at.user(token), 401, 'invalid_token', 'its token is dead')
    events()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(events(), [{ type: 'request_rejected', reason: 'code_unknown' }], `a mark is no replay: ${name}`)
  }
  const [code, token] = [await at.code(), await at.accessToken()]
  refuses(t, await changed.at.token({ code }), 400, 'invalid_grant', 'a code is bound to the values of its portal')
  t.equal((await changed.at.user(token)).status, 200, 'a token to the secret alone')
}

const [OLD, NEW] = ['the old secret', 'the new secret']

/** Between any two processes that share a secret, a sign-in goes on while the secret is rotated. */
export async function rotation (t: Test, subject: Subject): Promise<void> {
  const processes: Array<Subject & { secrets: string[] }> = []
  for (const secrets of [[OLD], [OLD, NEW], [NEW, OLD], [NEW]]) {
    processes.push({ secrets, ...await subject.another({ portal: { clientSecret: secrets } }) })
  }
  for (const first of processes) {
    for (const second of processes) {
      const isShared = second.secrets.some((secret) => first.secrets.includes(secret))
      for (const [index, secret] of second.secrets.entries()) {
        const name = `${String(first.secrets)} to ${String(second.secrets)}, by ${secret}`
        const response = await second.at.token({ code: await first.at.code(), client_secret: secret })
        if (!isShared) {
          refuses(t, response, 400, 'invalid_grant', name)
          continue
        }
        t.match(second.events().at(-1), { type: 'token_issued', secretIndex: index }, name)
        const token = response.json.access_token as string
        for (const { at, secrets } of processes) {
          if (!secrets.includes(secret)) refuses(t, await at.user(token), 401, 'invalid_token', name)
        }
        const owner = first.secrets.includes(secret) ? first : second
        t.strictSame((await owner.at.user(token)).json, subject.recordOf('ada'), name)
      }
    }
  }
}
