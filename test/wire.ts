// The requests of the portal and of a browser, for all tests: `wire` sends them as they should be but for what a test
// changes; `say` sends bytes as they are.
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { PORTAL, sessionOf } from './app.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What a test changes in a request; undefined leaves the parameter out. */
export type Changes = Record<string, string | undefined>

interface Credentials { clientId: string, clientSecret: string, redirectUri: string }

/** The portal's requests. A test may change each parameter. */
export type Wire = ReturnType<typeof wire>

export type WireResponse = Awaited<ReturnType<Wire['send']>>

/** Characters of a request that a message shows. */
const SHOWN = 160

/** `POST /oauth/token grant_type=…` */
function described (path: string, { method = 'GET', body }: RequestInit): string {
  return `${method} ${path} ${typeof body === 'string' ? body : ''}`.slice(0, SHOWN)
}

/** The pair of RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** The parameters of an authorization request with a code_challenge for the verifier. */
export const challenge = (verifier = VERIFIER) => ({
  code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256'
})

/** HTTP Basic: both parts form-encoded (RFC 6749 section 2.3.1). */
export function basic (id: string, secret: string): { authorization: string } {
  const [user = '', password = ''] = [id, secret].map((part) => new URLSearchParams({ '': part }).toString().slice(1))
  return basicAsSent(user, password)
}

/** HTTP Basic, both parts as they are. */
export function basicAsSent (id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
}

/** The portal of `PORTAL`, or of `portal`, against a base URL. */
export function wire (
  url: string, portal: Credentials = PORTAL, { fetch = globalThis.fetch }: { fetch?: Fetch } = {}
) {
  /** Any request. */
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { redirect: 'manual', ...init })
    const text = await response.text()
    const location = response.headers.get('location')
    return {
      /** What was sent: the message of assertions about the response. */
      get request () { return described(path, init) },
      status: response.status,
      headers: response.headers,
      text,
      /** The body as JSON. */
      get json () { return JSON.parse(text) },
      /** The parameters of the redirection. */
      redirect: new URLSearchParams(location === null ? '' : new URL(location, 'http://partner.example').search)
    }
  }
  const { clientId, clientSecret, redirectUri } = portal

  return {
    send,
    /** GET /oauth/authorize by a browser, in which the person is logged in. `more` is added to the query as it is. */
    async authorize (
      changes: Changes = {}, person: string | null = 'ada', headers: Record<string, string> = {}, more = ''
    ) {
      const asked = {
        client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'a state', ...changes
      }
      const cookies = [person === null ? undefined : sessionOf(person), headers.cookie]
        .filter((pairs) => pairs !== undefined)
      const cookie = cookies.length === 0 ? {} : { cookie: cookies.join('; ') }
      return await send(`/oauth/authorize?${encode(asked)}${more}`, { headers: { ...headers, ...cookie } })
    },
    /** POST /oauth/token */
    async token (changes: Changes = {}, headers: Record<string, string> = {}) {
      return await send('/oauth/token', {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: encode({
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uri: redirectUri,
          grant_type: 'authorization_code',
          ...changes
        })
      })
    },
    /** GET /oauth/user */
    async user (token: string | undefined, headers: Record<string, string> = {}) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return await send('/oauth/user', { headers: { accept: 'application/json', ...authorization, ...headers } })
    },
    /** A code for the person. */
    async code (person = 'ada', changes: Changes = {}): Promise<string> {
      return (await this.authorize(changes, person)).redirect.get('code') as string
    },
    /** A token for the person. */
    async accessToken (person = 'ada'): Promise<string> {
      return (await this.token({ code: await this.code(person) })).json.access_token as string
    }
  }
}

/** Requests that reach the app in its own process, without a socket. */
export function injecting (app: FastifyInstance): Fetch {
  return async (url, { method = 'GET', headers = {}, body }) => {
    const { statusCode, headers: sent, rawPayload } = await app.inject({
      method: method as 'GET',
      url: url.replace(/^https?:\/\/[^/]*/, ''),
      headers: headers as Record<string, string>,
      payload: body as string
    })
    const fields = Object.entries(sent)
      .flatMap(([name, value]) => [value].flat().map((line): [string, string] => [name, String(line)]))
    return new Response(new Uint8Array(rawPayload), { status: statusCode, headers: fields })
  }
}

/** The portal's requests, by the same way. */
export const inProcess = (app: FastifyInstance, prefix = ''): Wire => wire(prefix, PORTAL, { fetch: injecting(app) })

function encode (parameters: Changes): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(given).toString()
}

/** The credentials of the portal for HTTP Basic. */
export const BASIC = `Basic ${btoa(`${PORTAL.clientId}:${encodeURIComponent(PORTAL.clientSecret)}`)}`

/** The target of the portal's authorization request, with the state as it is given. */
export function authorizePath (state: string): string {
  const redirectUri = encodeURIComponent(PORTAL.redirectUri)
  return `/oauth/authorize?client_id=${PORTAL.clientId}&redirect_uri=${redirectUri}&response_type=code&state=${state}`
}

/** The form of the portal's token request. */
export function tokenForm (code: string, credentials = true): URLSearchParams {
  const { clientId, clientSecret, redirectUri } = PORTAL
  return new URLSearchParams({
    ...credentials ? { client_id: clientId, client_secret: clientSecret } : {},
    redirect_uri: redirectUri,
    grant_type: 'authorization_code',
    code
  })
}

/** The responses of a server on one connection. */
export interface Conversation {
  /** All bytes, one character each. */
  text: string
  /** The status of each response. */
  statuses: number[]
  /** Whether the server hung up by itself, not the test after a minute of silence. */
  closed: boolean
}

/** Sends the bytes of the text as they are, and listens until the server hangs up. */
export async function say (url: string, said: string): Promise<Conversation> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  let closed = true
  socket.on('data', (data) => { text += data.toString('latin1') })
  // A server may hang up while we are still talking.
  socket.on('error', () => {})
  socket.setTimeout(60_000, () => {
    closed = false
    socket.destroy()
  })
  socket.write(said, 'latin1')
  await new Promise((resolve) => socket.once('close', resolve))
  return { text, closed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) }
}

/** A request as text: a line, headers and a body, with its length unless a header has it. */
export function request (line: string, headers: string[] = [], body = ''): string {
  const hasLength = headers.some((header) => /^(?:content-length|transfer-encoding)/i.test(header))
  const length = body === '' || hasLength ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
  return [`${line} HTTP/1.1`, 'Host: partner.example', ...headers, ...length, 'Connection: close', '', body].join(
    '\r\n'
  )
}
