import { PORTAL } from './host.ts'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

type Changes = Record<string, string | undefined>

interface Credentials { clientId: string, clientSecret: string, redirectUri: string }

/** The portal's requests on the wire. A test may change each parameter; undefined leaves it out. */
export interface Wire {
  /** Any request. */
  send (path: string, init?: RequestInit): Promise<Answer>
  /** GET /oauth/authorize; with the user logged in unless null. */
  authorize (changes?: Changes, user?: string | null, headers?: Record<string, string>): Promise<Answer>
  /** POST /oauth/token */
  token (changes?: Changes, headers?: Record<string, string>): Promise<Answer>
  /** GET /oauth/user */
  user (token: string | undefined, headers?: Record<string, string>): Promise<Answer>
  /** A code for the user. */
  code (user?: string, changes?: Changes): Promise<string>
  /** A token for the user. */
  accessToken (user?: string): Promise<string>
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The body as JSON. */
  json: any
  /** The parameters of the redirection. */
  redirect: URLSearchParams
}

/** The portal of `PORTAL`, or of `portal`, against a base URL; `fetch` may be another way to get there. */
export function wire (url: string, portal: Credentials = PORTAL, fetch: Fetch = globalThis.fetch): Wire {
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, { redirect: 'manual', ...init })
    const text = await response.text()
    const location = response.headers.get('location')
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json () { return JSON.parse(text) },
      redirect: new URLSearchParams(location === null ? '' : new URL(location, url).search)
    }
  }
  const common = { client_id: portal.clientId, redirect_uri: portal.redirectUri }

  return {
    send,
    authorize: async (changes = {}, user = 'alice', headers = {}) => await send(
      `/oauth/authorize?${encode({ ...common, response_type: 'code', state: 'a state', ...changes })}`,
      { headers: { ...(user === null ? {} : { 'x-user': user }), ...headers } }
    ),
    token: async (changes = {}, headers = {}) => await send('/oauth/token', {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: encode({ ...common, client_secret: portal.clientSecret, grant_type: 'authorization_code', ...changes })
    }),
    user: async (token, headers = {}) => await send('/oauth/user', {
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers
      }
    }),
    async code (user = 'alice', changes = {}) {
      return (await this.authorize(changes, user)).redirect.get('code') as string
    },
    async accessToken (user = 'alice') {
      return (await this.token({ code: await this.code(user) })).json.access_token as string
    }
  }
}

function encode (parameters: Changes): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(given).toString()
}
