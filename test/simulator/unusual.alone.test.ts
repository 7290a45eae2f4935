// Services that are correct in unusual ways: no rule fails, and what is advice is named.
import { createCipheriv, createDecipheriv, createHmac, randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { CLIENT_ID, CLIENT_SECRET, credentials, RECORDS, SECOND } from '../helpers/service.ts'
import type { Grant, Parts, Reply, Sent } from '../helpers/service.ts'
import { EVERY_RULE, failedRules, tried } from './trial.ts'
import type { Trial } from './trial.ts'

interface Unusual {
  parts?: Partial<Parts>
  trial?: Trial
  advice?: string[]
}

const random = (): string => randomBytes(32).toString('base64url')
const KEY = randomBytes(32)
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
/** RFC 7519. The decoder is Node's, which ignores characters outside of Base64. `last`: of the signature. */
function jwtOf (bits: number, last: RegExp): Partial<Parts> {
  const signature = (content: string): string => createHmac(`sha${bits}`, KEY).update(content).digest('base64url')
  const jwt = (claims: object): string => {
    const content = `${base64({ alg: `HS${bits}`, typ: 'JWT' })}.${base64(claims)}`
    return `${content}.${signature(content)}`
  }
  const readJwt = (token: string): { jti?: string } => {
    const [header = '', body = '', given = '', ...more] = token.split('.')
    const isSigned = Buffer.from(given, 'base64url').equals(Buffer.from(signature(`${header}.${body}`), 'base64url'))
    return isSigned && more.length === 0 ? JSON.parse(Buffer.from(body, 'base64url').toString()) : {}
  }
  const newToken: Parts['newToken'] = (memory, grant, code) => {
    const token = jwt({ sub: grant.user, jti: random() })
    return last.test(token) ? token : newToken(memory, grant, code)
  }
  return { newToken, findToken: byId(readJwt) }
}
/** RFC 7516, compact, "dir" and A256GCM. */
function jwe (claims: object): string {
  const header = base64({ alg: 'dir', enc: 'A256GCM' })
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', KEY, iv).setAAD(Buffer.from(header))
  const parts = [iv, Buffer.concat([cipher.update(JSON.stringify(claims)), cipher.final()]), cipher.getAuthTag()]
  return [header, '', ...parts.map((part) => part.toString('base64url'))].join('.')
}
function readJwe (code: string): { jti?: string } {
  const [header = '', , iv = '', text = '', tag = ''] = code.split('.')
  const bytes = (part: string): Buffer => Buffer.from(part, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', KEY, bytes(iv), { authTagLength: 16 })
    decipher.setAAD(Buffer.from(header)).setAuthTag(bytes(tag))
    return JSON.parse(Buffer.concat([decipher.update(bytes(text)), decipher.final()]).toString())
  } catch {
    return {}
  }
}
/** Finds a grant by the identifier that a code or token contains. */
const byId = (read: (text: string) => { jti?: string }) => (grants: Map<string, Grant>, given: string) => {
  const { jti } = read(given)
  return [...grants].find(([own]) => jti !== undefined && read(own).jti === jti)?.[1]
}
const long = (bytes: number): string => randomBytes(bytes).toString('base64url')
const PLUS = { id: 'partner+1', secret: 'Kq7v+mX9bLr4WzN8cYp3HdG6sJf5Ea' }
const changed = (change: (sent: Sent) => Reply): Partial<Parts> => ({ after: (sent) => change(sent as Sent) })
const at = (path: string, reply: (sent: Partial<Sent>) => Reply): Partial<Parts> =>
  ({ after: (sent, ask) => ask.path === path ? reply(sent) : sent })
const apartFromPort = (given: string, own: string): boolean =>
  given.replace(/^(http:\/\/localhost):\d+/, '$1') === own.replace(/^(http:\/\/localhost):\d+/, '$1')
const inLower = (grants: Map<string, Grant>, given: string) => grants.get(given.toLowerCase())
const inUpper = (grants: Map<string, Grant>, given: string) => grants.get(given.toUpperCase())
const upperHex = (): string => randomBytes(16).toString('hex').toUpperCase()

const UNUSUAL: Record<string, Unusual> = {
  'as it is': {},
  'a login form with an address of its own': {
    parts: {
      loginPage: ({ query }) => `<form method=post action="/login?return_to=${
        encodeURIComponent(query.get('return_to') ?? '')}"><input name=user></form>`
    }
  },
  'with 405 for other methods': {
    parts: changed((sent) => sent.status === 404 ? { ...sent, status: 405 } : sent)
  },
  'with PKCE': { trial: { pkce: true } },
  'with Basic': { trial: { basic: true } },
  'with a second client': { trial: { second: { clientId: SECOND.id, clientSecret: SECOND.secret } } },
  'codes as JWE, whose decoder passes over white space': {
    parts: { newCode: () => jwe({ jti: random() }), findCode: byId(readJwe) }, advice: ['?token.code-exact']
  },
  // A decoder ignores two bits of the last character, which differ in 8 and _.
  'tokens as signed JWT': { parts: jwtOf(256, /8$/) },
  'tokens as signed JWT, whose decoder passes over a character at the end': {
    parts: jwtOf(384, /$/), advice: ['?user.token-exact']
  },
  'codes and tokens as UUID of version 4, in any case': {
    parts: { newCode: () => randomUUID(), newToken: () => randomUUID(), findCode: inLower, findToken: inLower }
  },
  'codes in upper-case hex': { parts: { newCode: upperHex } },
  'codes and tokens in upper-case hex, in any case': {
    parts: { newCode: upperHex, newToken: upperHex, findCode: inUpper, findToken: inUpper }
  },
  'a signed counter': {
    parts: { newCode: ({ made }) => `${made}.${createHmac('sha256', KEY).update(`${made}`).digest('base64url')}` }
  },
  'tokens with the name of the user': { parts: { newToken: (_memory, { user }) => `${user}-u-1-${random()}` } },
  'a redirect of 303': { parts: changed((sent) => ({ ...sent, status: sent.status === 302 ? 303 : sent.status })) },
  'refusals as pages': {
    parts: at('/oauth/token', ({ status = 0, ...sent }) => status < 400
      ? { status, ...sent }
      : { status, headers: [...sent.headers ?? [], ['Content-Type', 'text/html']], body: '<p>Refused.</p>' }),
    advice: ['?token.error']
  },
  'error pages that repeat the request, escaped': {
    parts: {
      errorPage: ({ query }) => {
        const text = [...query].flat().join(' ').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
        return `<p title="${text}">${text}</p>`
      }
    }
  },
  'error pages that repeat the request as text, quotes as they are': {
    parts: { errorPage: ({ query }) => `<p>${[...query].flat().join(' ').replaceAll('<', '&lt;')}</p>` }
  },
  'other words': { parts: { description: 'Das geht so nicht: bitte von vorn beginnen!' } },
  'no words': {
    parts: changed((sent) => ({ ...sent, body: sent.body.replace(/,"error_description":"[^"]*"/, '') }))
  },
  'a proxy in front names the user in a header': {
    parts: { sessionOf: ({ headers }) => headers['x-user'] === 'u-1' ? 'ada' : null },
    trial: { cookie: '', headers: [['X-User', 'u-1']] }
  },
  'any port of this machine, as RFC 8252 says': { parts: { sameUri: apartFromPort, sameTokenUri: apartFromPort } },
  'refusals that repeat the client_secret of the request': {
    parts: {
      after: (sent, { form }) => sent.status === 401
        ? { ...sent, body: JSON.stringify({ error: 'invalid_client', given: form.get('client_secret') }) }
        : sent
    }
  },
  'a code is used up by any refusal of it': {
    parts: {
      before: (ask, memory) => {
        const code = String(ask.form.get('code'))
        const isWrong = ask.form.get('client_secret') !== CLIENT_SECRET
        if (ask.path === '/oauth/token' && isWrong) memory.codes.delete(code)
        return null
      }
    },
    advice: ['?token.basic', '?token.wrong-caller-burns-nothing']
  },
  'a user has one code': {
    parts: {
      newCode: ({ codes }, { user }) => {
        for (const [code, grant] of codes) if (grant.user === user) codes.delete(code)
        return random()
      }
    },
    advice: ['?token.earlier-code']
  },
  'PKCE is needed': {
    parts: { acceptsChallenge: (challenge, method) => challenge !== null && method === 'S256' }, trial: { pkce: true }
  },
  'PKCE is not known': {
    parts: { verified: () => true, acceptsChallenge: () => true }, advice: ['?token.pkce']
  },
  'more in the response of the token endpoint': {
    parts: { tokenBody: (token) => ({ token_type: 'Bearer', access_token: token, expires_in: 60, scope: '' }) }
  },
  'members named error beside the good ones': {
    parts: {
      tokenBody: (token) => ({ error: 'none', token_type: 'Bearer', access_token: token, error_description: '' }),
      record: ({ user }) => ({ ...RECORDS[user], error: 'none' })
    },
    advice: ['?user.listed-fields']
  },
  'iss in the redirect': { parts: { callback: () => ({ iss: 'https://partner.example' }) } },
  'codes of a minute, tokens of an hour': {
    parts: { lifetimes: { code: 60, token: 3600 } }, trial: { codeLifetime: 60, tokenLifetime: 3600 }
  },
  'Basic is the only way': {
    parts: {
      credentialsOf: (ask, form) => form.has('client_secret') ? null : credentials(ask, form)
    },
    trial: { basic: true }
  },
  'HTTP Basic compared as it was sent, too, and a + in client_id and secret': {
    parts: {
      sameClient: (given) => given === PLUS.id,
      credentialsOf: (ask, form) => {
        const sent = Buffer.from(String(ask.headers.authorization).slice('Basic '.length), 'base64').toString()
        const [id, secret] = sent.split(':')
        const given = credentials(ask, form)
        const isOwn = [id, given?.id].includes(PLUS.id) && [secret, given?.secret].includes(PLUS.secret)
        return isOwn ? { id: CLIENT_ID, secret: CLIENT_SECRET } : null
      }
    },
    trial: { basic: true, clientId: PLUS.id, clientSecret: PLUS.secret }
  },
  'very long codes and tokens': {
    parts: { newCode: () => long(1500), newToken: () => long(4500) }
  },
  'session cookies renewed with each response': {
    parts: {
      after: (sent, { user }) => user === null
        ? sent
        : { ...sent, headers: [...sent.headers ?? [], ['Set-Cookie', `sid=${user}; Path=/; SameSite=Lax`]] }
    }
  },
  'several challenges in one header': {
    parts: changed((sent) => ({
      ...sent,
      headers: sent.headers.map(([name, value]) =>
        [name, name === 'WWW-Authenticate' ? `Negotiate, Digest realm="a, b", ${value}` : value] as const)
    }))
  },
  'a login page that gets an error of its own': {
    parts: changed((sent) => ({
      ...sent,
      headers: sent.headers.map(([name, value]) =>
        [name, value.replace('/login?', '/login?error=Sitzung+ung%C3%BCltig&')] as const)
    }))
  },
  'a client user': { parts: { record: () => RECORDS.bob as object } }
}

for (const [name, { parts = {}, trial, advice = [] }] of Object.entries(UNUSUAL)) {
  await t.test(name, async (t) => {
    const { findings, stopped } = await tried(EVERY_RULE, {
      cookie: 'sid=ada; SameSite=Lax',
      ineligible: trial?.headers === undefined ? 'sid=eve' : undefined,
      parts,
      ...trial
    } as Trial)
    t.equal(stopped, undefined)
    t.strictSame(failedRules(findings), advice)
  })
}
