// A host that speaks HTTP/2.
import { connect, constants } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** Sends what `fetch` would, in HTTP/2. */
function fetchBy (session: ClientHttp2Session): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, { method = 'GET', headers, body }) => await new Promise((resolve, reject) => {
    const { pathname, search } = new URL(url)
    const sent = { ':method': method, ':path': pathname + search, ...headers as Record<string, string> }
    const stream = session.request(sent, { endStream: method !== 'POST' })
    stream.on('error', reject).on('response', ({ [constants.HTTP2_HEADER_STATUS]: status, ...fields }) => {
      const init = {
        status: Number(status),
        headers: Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])
      }
      stream.toArray().then((chunks) => resolve(new Response(Buffer.concat(chunks).toString(), init)), reject)
    })
    if (method === 'POST') stream.end(String(body))
  })
}

t.test('the contract', async (t) => {
  const { url } = await startHost(t, {}, { server: { http2: true } as FastifyServerOptions })
  const session = connect(url)
  // Before the server closes: it waits for its sessions.
  t.teardown(() => session.destroy())
  await keepsContract(t, wire(url, undefined, { fetch: fetchBy(session) }))
})
