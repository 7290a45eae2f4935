import { Agent, request } from 'node:http'

/** A client for many requests at once; lighter than fetch. */
export interface Client {
  /** POST /oauth/token with this form. */
  token (url: string, form: string): Promise<Reply>
  /** GET /oauth/user with this token. */
  user (url: string, token: string): Promise<Reply>
  close (): void
}

export interface Reply { status: number, text: string }

export function client (): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const send = (url: string, method: string, headers: Record<string, string>, body?: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = request(url, { agent, method, headers }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8')
        incoming.on('data', (data: string) => {
          text += data
        })
        incoming.on('end', () => resolve({ status: incoming.statusCode as number, text }))
        incoming.on('error', reject)
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  return {
    token: (url, form) =>
      send(
        `${url}/oauth/token`,
        'POST',
        { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(Buffer.byteLength(form)) },
        form
      ),
    user: (url, token) => send(`${url}/oauth/user`, 'GET', { authorization: `Bearer ${token}` }),
    close: () => agent.destroy()
  }
}
