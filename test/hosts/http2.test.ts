// A host that speaks HTTP/2.
import { connect, constants } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { Fastify } from '../helpers/fastify.ts'
import { hostOptions } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
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
  const app = Fastify({ http2: true })
  await app.register(partnerSso<User>, hostOptions())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(url)
  // One after the other: the server waits for its sessions.
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  await keepsContract(t, wire(url, undefined, { fetch: fetchBy(session) }))
})
