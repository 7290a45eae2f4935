// A host that speaks HTTP/2, in the clear and over TLS beside HTTP/1.1.
import Fastify, { type FastifyInstance } from 'fastify'
import { execFileSync } from 'node:child_process'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { keepsContract } from '../helpers/contract.ts'
import { hostOptions, type User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** Sends what `fetch` would, in HTTP/2. */
function fetchBy (session: ClientHttp2Session): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => await new Promise((resolve, reject) => {
    const { pathname, search } = new URL(url)
    const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body as string | undefined ?? ''
    const form = init.body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const stream = session.request({ ':method': init.method ?? 'GET', ':path': pathname + search, ...form, ...init.headers as Record<string, string> })
    stream.on('error', reject).on('response', ({ [constants.HTTP2_HEADER_STATUS]: status, ...headers }) => {
      const fields = Object.entries(headers).filter(([name]) => !name.startsWith(':')).map(([name, value]) => [name, String(value)] as [string, string])
      stream.toArray().then((chunks) => resolve(new Response(Buffer.concat(chunks).toString(), { status: Number(status), headers: fields })), reject)
    })
    stream.end(body)
  })
}

async function host (app: FastifyInstance): Promise<string> {
  t.teardown(() => app.close())
  await app.register(partnerSso<User>, hostOptions())
  return await app.listen({ port: 0, host: '127.0.0.1' })
}

async function keepsContractOverHttp2 (t: typeof import('tap').t, url: string, options = {}): Promise<void> {
  const session = connect(url, options)
  await keepsContract(t, wire(url, undefined, fetchBy(session)))
  session.close()
}

t.test('in the clear', async (t) => {
  const url = await host(Fastify({ http2: true }) as unknown as FastifyInstance)
  await keepsContractOverHttp2(t as typeof import('tap').t, url)
})

t.test('over TLS', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'partner-sso-tls-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const url = await host(Fastify({ http2: true, https: { allowHTTP1: true, key: readFileSync(key), cert: readFileSync(cert) } }) as unknown as FastifyInstance)
  await keepsContractOverHttp2(t as typeof import('tap').t, url, { ca: readFileSync(cert), servername: 'localhost' })
})
