// A host that speaks HTTP/2.
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startApp } from '../app.ts'
import { wire } from '../wire.ts'
import type { Fetch } from '../wire.ts'

/** Sends what `fetch` would, in HTTP/2. */
const fetchBy = (session: ClientHttp2Session): Fetch => async (url, { method = 'GET', headers, body }) => {
  const { pathname, search } = new URL(url)
  const stream = session.request({
    ':method': method,
    ':path': pathname + search,
    ...headers as Record<string, string>
  })
  stream.end(body)
  const [{ ':status': status, ...fields }] = await once(stream, 'response') as [IncomingHttpHeaders]
  const text = String(Buffer.concat(await stream.toArray()))
  return new Response(text, { status: Number(status), headers: Object.entries(fields) as Array<[string, string]> })
}

t.test('the contract', async (t) => {
  const { url } = await startApp(t, { server: { http2: true } as FastifyServerOptions })
  const session = connect(url)
  // Before the server closes: it waits for its sessions.
  t.teardown(() => session.destroy())
  await keepsContract(t, wire(url, undefined, { fetch: fetchBy(session) }))
})
