// The token endpoint and replays, also where the registration of the portal has changed meanwhile.
import type { Test } from 'tap'
import type { RefusalReason } from '../../../lib/index.ts'
import { tokenForm } from '../../helpers/raw-requests.ts'
import { basic, CHALLENGE, challenge, VERIFIER } from '../../helpers/wire.ts'
import type { Changes, WireResponse } from '../../helpers/wire.ts'
import { refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

const noCredentials = { client_id: undefined, client_secret: undefined }

/** The form or HTTP Basic, each of the portal's secrets, never both ways at once. */
export async function authentication (t: Test, { at, events, portal }: Subject): Promise<void> {
  const { clientId, clientSecret } = portal
  const header = basic(clientId, clientSecret)
  const good = async (changes: Changes, headers = {}): Promise<void> => {
    t.equal((await at.token({ code: await at.code(), ...changes }, headers)).status, 200)
  }
  await good({ client_secret: undefined }, header)
  await good({ ...noCredentials, client_secret: '' }, header)
  await good(noCredentials, { authorization: header.authorization.replace('Basic', 'bAsIc') })
  await good({}, { authorization: 'Bearer x' })

  const code = await at.code()
  const malformed = { authorization: 'Basic !' }
  const twice: Array<[changes: Changes, headers: Record<string, string>]> = [
    [{ client_id: 'another', client_secret: undefined }, header],
    [{}, basic('someone', 'wrong')],
    [{ client_id: undefined }, malformed]
  ]
  for (const [changes, headers] of twice) {
    refuses(t, await at.token({ code, ...changes }, headers), 400, 'invalid_request')
    t.match(events().at(-1), { reason: 'authentication_repeated' }, JSON.stringify([changes, headers]))
  }
  const failures = [
    await at.token({ code, client_id: 'someone' }),
    await at.token({ code, client_secret: 'wrong' }),
    await at.token({ code, client_secret: `${clientSecret}x` }),
    await at.token({ code, ...noCredentials }, basic(clientId, 'wrong')),
    await at.token({ code, ...noCredentials }, malformed)
  ]
  const seen = failures.map(({ status, text, headers }) =>
    JSON.stringify([status, text, [...headers].filter(([name]) => name !== 'date')]))
  t.equal(new Set(seen).size, 1, 'an unknown client and a wrong secret look the same')
  refuses(t, failures[0] as WireResponse, 401, 'invalid_client')
  for (const [changes, headers] of [[{ client_secret: '' }, {}], [noCredentials, { authorization: 'Bearer x' }]]) {
    refuses(t, await at.token({ code, ...changes }, headers as Record<string, string>), 401, 'invalid_client')
    t.match(events().at(-1), { reason: 'authentication_missing' }, JSON.stringify(headers))
  }
  t.equal((await at.token({ code })).status, 200, 'the code is still good')
}

const FORM = 'application/x-www-form-urlencoded'

/** What is added to a good form, or its bytes; its content type; the reason why it is refused. */
const bodies: Array<[more: string, type: string | undefined, reason: RefusalReason]> = [
  ['', `${FORM}-x`, 'content_type_unsupported'],
  ['', `${FORM}, application/json`, 'content_type_unsupported'],
  ['{', 'application/json', 'content_type_unsupported'],
  ['', 'multipart/form-data; boundary=x', 'content_type_unsupported'],
  ['', undefined, 'content_type_unsupported'],
  ['&x=%ff', FORM, 'body_unreadable'],
  ['&x=\xff', FORM, 'body_unreadable'],
  [`&x=${'y'.repeat(2 ** 15)}`, FORM, 'body_unreadable'],
  ['&x=y'.repeat(1000), FORM, 'parameters_excessive'],
  ['&code=x', FORM, 'parameter_repeated'],
  ['&scope=&scope=', FORM, 'parameter_repeated']
]

/** Empty is missing, repeated is refused, nothing else than a form is read; the code stays good. */
export async function form (t: Test, { at, events, portal }: Subject): Promise<void> {
  const code = await at.code()
  for (const name of ['redirect_uri', 'grant_type', 'code', 'client_id']) {
    refuses(t, await at.token({ code, [name]: '' }), 400, 'invalid_request')
    t.match(events().at(-1), { reason: `${name}_missing` }, name)
  }
  for (const grantType of ['Authorization_Code', 'client_credentials']) {
    refuses(t, await at.token({ code, grant_type: grantType }), 400, 'unsupported_grant_type')
  }
  for (const redirectUri of [`${portal.redirectUri}?`, portal.redirectUri.toUpperCase()]) {
    refuses(t, await at.token({ code, redirect_uri: redirectUri }), 400, 'invalid_grant')
  }
  const good = `${tokenForm(code)}&code_verifier=${VERIFIER}`
  for (const [more, type, reason] of bodies) {
    const headers = type === undefined ? {} : { 'content-type': type }
    const body = Buffer.from(type === 'application/json' ? more : good + more, 'latin1')
    refuses(t, await at.send('/oauth/token', { method: 'POST', headers, body }), 400, 'invalid_request', reason)
    t.match(events().at(-1), { reason }, reason)
  }
  // A charset says nothing (RFC 6749 appendix B), nor does the case (RFC 9110 section 8.3.1).
  const latin = { 'content-type': 'Application/X-WWW-form-urlencoded ; charset=ISO-8859-1' }
  t.equal((await at.token({ code }, latin)).status, 200, 'the code is still good')
}

/** RFC 7636: whatever is wrong with the verifier, the code stays consumed. */
export async function pkce (t: Test, { at, events }: Subject): Promise<void> {
  const none = { code_challenge: undefined, code_challenge_method: undefined }
  const cases: Array<[asked: Changes, verifier: string, reason: RefusalReason]> = [
    [challenge(), '', 'code_verifier_missing'],
    [challenge(), CHALLENGE, 'code_verifier_mismatch'],
    [none, VERIFIER, 'code_verifier_unexpected']
  ]
  for (const verifier of [VERIFIER, '-._~'.repeat(32)]) {
    const code = await at.code('alice', challenge(verifier))
    t.equal((await at.token({ code, code_verifier: verifier })).status, 200, verifier)
  }
  t.equal((await at.token({ code: await at.code('alice', none), code_verifier: undefined })).status, 200)
  for (const [asked, verifier, reason] of cases) {
    const code = await at.code('alice', asked)
    refuses(t, await at.token({ code, code_verifier: verifier }), 400, 'invalid_grant', reason)
    t.match(events().at(-1), { reason, externalId: 'alice' }, reason)
    refuses(t, await at.token({ code, code_verifier: VERIFIER }), 400, 'invalid_grant')
    t.match(events().at(-1), { reason: 'code_unknown' }, `there was no token to revoke: ${reason}`)
  }
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
    refuses(t, await later.token({ code, client_secret: 'wrong' }), 401, 'invalid_client')
    events()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(events(), [{ type: 'code_replayed', reason: 'code_replayed', clientId, externalId: 'alice' }], name)
    refuses(t, await at.user(token), 401, 'invalid_token', 'its token is dead')
    events()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(events(), [{ type: 'request_rejected', reason: 'code_unknown' }], `a mark is no replay: ${name}`)
  }
  const code = await at.code()
  const { access_token: token } = (await at.token({ code })).json
  await at.token({ code, client_secret: 'wrong' })
  t.equal((await at.user(token)).status, 200, 'a replay with a wrong secret revokes nothing')
}

/** A code whose portal has another value by now is unknown. */
export async function changedPortal (t: Test, subject: Subject): Promise<void> {
  const { at, portal } = subject
  const level = portal.level === 'client' ? 'partner' : 'client'
  for (const changed of [
    { loginUrl: 'https://portal.example/new' }, { redirectUri: 'https://portal.example/new' }, { level } as const
  ]) {
    const [code, token] = [await at.code(), await at.accessToken()]
    const after = await subject.another({ portal: changed })
    refuses(t, await after.at.token({ code }), 400, 'invalid_grant')
    t.equal((await after.at.user(token)).status, 200,
      `a token needs the secret alone, whatever is changed: ${Object.keys(changed)}`)
  }
  const token = await at.accessToken()
  const gone = await subject.another({ portal: { clientId: 'another' } })
  refuses(t, await gone.at.user(token), 401, 'invalid_token', 'its portal is gone')
  t.equal((await at.user(token)).status, 200, 'the refusal has not used it up')
}

/** Between any two processes that share a secret, a sign-in goes on while the secret is rotated. */
export async function rotation (t: Test, subject: Subject): Promise<void> {
  const [old, renewed] = ['the old secret', 'the new secret']
  const rotations = [[old], [old, renewed], [renewed, old], [renewed]]
  const processes = await Promise.all(rotations.map(async (clientSecret) => ({
    clientSecret, ...await subject.another({ portal: { clientSecret } })
  })))
  for (const first of processes) {
    for (const second of processes) {
      const shared = second.clientSecret.filter((secret) => first.clientSecret.includes(secret))
      for (const [index, secret] of second.clientSecret.entries()) {
        const code = await first.at.code()
        const response = await second.at.token({ code, client_secret: secret })
        const name = `${String(first.clientSecret)} to ${String(second.clientSecret)}, by ${secret}`
        if (shared.length === 0) {
          refuses(t, response, 400, 'invalid_grant', name)
          continue
        }
        t.equal(response.status, 200, name)
        t.match(second.events().filter(({ type }) => type === 'token_issued').at(-1), { secretIndex: index }, secret)
        for (const third of processes.filter(({ clientSecret }) => !clientSecret.includes(secret))) {
          refuses(t, await third.at.user(response.json.access_token), 401, 'invalid_token', name)
        }
        const third = shared.includes(secret) ? first : second
        t.strictSame((await third.at.user(response.json.access_token)).json, subject.recordOf('alice'), name)
      }
    }
  }
}
