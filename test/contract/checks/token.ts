// The token endpoint and replays, also where the registration of the portal has changed meanwhile.
import type { Test } from 'tap'
import { tokenForm } from '../../helpers/raw-requests.ts'
import { basic, CHALLENGE, challenge, VERIFIER } from '../../helpers/wire.ts'
import type { WireResponse } from '../../helpers/wire.ts'
import { refuses } from '../replies.ts'
import type { Subject } from '../subject.ts'

const noCredentials = { client_id: undefined, client_secret: undefined }

/** The form or HTTP Basic, each of the portal's secrets, never both ways at once. */
export async function authentication (t: Test, { at, events, portal }: Subject): Promise<void> {
  const { clientId, clientSecret } = portal
  const header = basic(clientId, clientSecret)
  const good = async (changes: Record<string, string | undefined>, headers = {}): Promise<void> => {
    t.equal((await at.token({ code: await at.code(), ...changes }, headers)).status, 200)
  }
  await good({ client_secret: undefined }, header)
  await good({ ...noCredentials, client_secret: '' }, header)
  await good(noCredentials, { authorization: header.authorization.replace('Basic', 'bAsIc') })
  await good({}, { authorization: 'Bearer x' })

  const code = await at.code()
  const malformed = { authorization: 'Basic !' }
  const twice: Array<[Record<string, string | undefined>, Record<string, string>]> = [
    [{ client_id: 'another', client_secret: undefined }, header],
    ...[header, basic('someone', 'wrong'), malformed].flatMap((one): typeof twice =>
      [[{}, one], [{ client_id: undefined }, one]])
  ]
  for (const [changes, headers] of twice) {
    refuses(t, await at.token({ code, ...changes }, headers), 400, 'invalid_request')
    t.match(events().at(-1), { reason: 'authentication_repeated' }, JSON.stringify([changes, headers]))
  }
  const failures = [
    await at.token({ code, client_id: 'someone' }),
    await at.token({ code, client_secret: 'wrong' }),
    await at.token({ code, client_secret: clientSecret.slice(1) }),
    await at.token({ code, client_secret: `${clientSecret}x` }),
    await at.token({ code, ...noCredentials }, basic(clientId, 'wrong')),
    await at.token({ code, ...noCredentials }, basic('someone', clientSecret)),
    await at.token({ code, ...noCredentials }, malformed)
  ]
  const seen = failures.map(({ status, text, headers }) =>
    JSON.stringify([status, text, [...headers].filter(([name]) => name !== 'date')]))
  t.equal(new Set(seen).size, 1, 'an unknown client and a wrong secret look the same')
  refuses(t, failures[0] as WireResponse, 401, 'invalid_client')
  events()
  for (const changes of [noCredentials, { client_secret: undefined }, { client_secret: '' }]) {
    for (const headers of [{}, { authorization: 'Bearer x' }] as Array<Record<string, string>>) {
      refuses(t, await at.token({ code, ...changes }, headers), 401, 'invalid_client')
      t.match(events(), [{ type: 'client_authentication_failed', reason: 'authentication_missing' }],
        JSON.stringify({ headers, changes }))
    }
  }
  t.equal((await at.token({ code })).status, 200, 'the code is still good')
}

/** Empty is missing, repeated is refused, nothing else than a form is read; the code stays good. */
export async function form (t: Test, { at, events, portal }: Subject): Promise<void> {
  const code = await at.code()
  for (const name of ['redirect_uri', 'grant_type', 'code', 'client_id']) {
    refuses(t, await at.token({ code, [name]: '' }), 400, 'invalid_request')
    t.match(events().at(-1), { reason: `${name}_missing` }, name)
  }
  for (const grantType of ['password', 'Authorization_Code', 'refresh_token', 'client_credentials']) {
    refuses(t, await at.token({ code, grant_type: grantType }), 400, 'unsupported_grant_type')
  }
  for (const redirectUri of [`${portal.redirectUri}?`, portal.redirectUri.toUpperCase()]) {
    refuses(t, await at.token({ code, redirect_uri: redirectUri }), 400, 'invalid_grant')
  }
  const text = `${tokenForm(code)}&code_verifier=${VERIFIER}`
  const type = 'application/x-www-form-urlencoded'
  const cases: Array<[body: string | Buffer | undefined, type: string | undefined, reason: string]> = [
    [text, 'text/plain', 'content_type_unsupported'],
    [text, `${type}-x`, 'content_type_unsupported'],
    [text, `${type}, application/json`, 'content_type_unsupported'],
    [text, `${type} x`, 'content_type_unsupported'],
    [JSON.stringify({ code }), 'application/json', 'content_type_unsupported'],
    ['{', 'application/json', 'content_type_unsupported'],
    ['--x--', 'multipart/form-data; boundary=x', 'content_type_unsupported'],
    [undefined, undefined, 'content_type_unsupported'],
    [`${text}&x=%zz`, type, 'body_unreadable'],
    [`${text}&x=%ff`, type, 'body_unreadable'],
    [`${text}&x=%ed%a0%80`, type, 'body_unreadable'],
    [Buffer.from(`${text}&x=\xff`, 'latin1'), type, 'body_unreadable'],
    [`${text}&x=${'y'.repeat(2 ** 15)}`, type, 'body_unreadable'],
    [`${text}${'&x=y'.repeat(1000)}`, type, 'parameters_excessive'],
    [`${text}&code=${code}`, type, 'parameter_repeated'],
    [`${text}&scope=&scope=`, type, 'parameter_repeated']
  ]
  for (const [body, contentType, reason] of cases) {
    const response = await at.send('/oauth/token', {
      method: 'POST',
      ...contentType === undefined ? {} : { headers: { 'content-type': contentType } },
      ...body === undefined ? {} : { body: body as string }
    })
    refuses(t, response, 400, 'invalid_request', reason)
    t.match(events().at(-1), { reason }, reason)
  }
  // A charset says nothing (RFC 6749 appendix B), nor does the case (RFC 9110 section 8.3.1).
  const latin = { 'content-type': 'Application/X-WWW-form-urlencoded ; charset=ISO-8859-1' }
  t.equal((await at.token({ code }, latin)).status, 200, 'the code is still good')
}

/** RFC 7636: whatever is wrong with the verifier, the code stays consumed. */
export async function pkce (t: Test, { at, events }: Subject): Promise<void> {
  const none = { code_challenge: undefined, code_challenge_method: undefined }
  const cases: Array<[asked: Record<string, string | undefined>, verifier: string | undefined, reason: string]> = [
    [challenge(), undefined, 'code_verifier_missing'],
    [challenge(), '', 'code_verifier_missing'],
    [challenge(), CHALLENGE, 'code_verifier_mismatch'],
    [none, VERIFIER, 'code_verifier_unexpected']
  ]
  t.equal(challenge().code_challenge, CHALLENGE)
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
  const { at, events, portal } = subject
  const processes = [
    subject,
    await subject.another({ portal: { loginUrl: 'https://portal.example/external-oauth/new' } }),
    await subject.another({ portal: { redirectUri: 'https://portal.example/new' } }),
    await subject.another({ portal: { clientSecret: ['another', portal.clientSecret] } }),
    await subject.another({ portal: { level: portal.level === 'client' ? 'partner' : 'client' } })
  ]
  for (const [index, { at: later, events: seen }] of processes.entries()) {
    const code = await at.code()
    const { access_token: token } = (await at.token({ code })).json
    refuses(t, await later.token({ code, client_secret: 'wrong' }), 401, 'invalid_client')
    seen()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(seen(),
      [{ type: 'code_replayed', reason: 'code_replayed', clientId: portal.clientId, externalId: 'alice' }],
      `process ${index}`)
    refuses(t, await at.user(token), 401, 'invalid_token', 'its token is dead')
    seen()
    refuses(t, await later.token({ code }), 400, 'invalid_grant')
    t.match(seen(), [{ type: 'request_rejected', reason: 'code_unknown' }],
      `a mark does not make the code a replay: process ${index}`)
  }
  const code = await at.code()
  const { access_token: token } = (await at.token({ code })).json
  await at.token({ code, client_secret: 'wrong' })
  t.equal((await at.user(token)).status, 200, 'a replay with a wrong secret revokes nothing')
  events()
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
