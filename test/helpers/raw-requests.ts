import { connect } from 'node:net'
import { PORTAL } from './host.ts'

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
