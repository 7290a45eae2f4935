// @fastify/compress and @fastify/etag for the whole app.
import compress from '@fastify/compress'
import etag from '@fastify/etag'
import { request } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('compressed answers', async (t) => {
  const { url } = await startHost(t, {}, { prepare: (app) => app.register(compress, { threshold: 0 }) })
  await keepsContract(t, wire(url))

  const token = await wire(url).accessToken()
  const compressed = await new Promise<{ encoding: string | undefined, body: Buffer }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
    request(`${url}/oauth/user`, { headers }, (response) => {
      const encoding = response.headers['content-encoding']
      response.toArray().then((chunks) => resolve({ encoding, body: Buffer.concat(chunks) }), reject)
    }).on('error', reject).end()
  })
  t.equal(compressed.encoding, 'gzip')
  t.strictSame(JSON.parse(gunzipSync(compressed.body).toString()), recordOf('alice'))
})

t.test('a compressed form', async (t) => {
  const { url } = await startHost(t, {}, { prepare: (app) => app.register(compress) })
  const portal = wire(url)
  const code = await portal.code()
  const form = 'client_id=partner-123&client_secret=a+portal+secret%3A+100+%25+%26+more' +
    `&grant_type=authorization_code&code=${code}&redirect_uri=https://portal.example/oauth/callback`
  const { status } = await portal.send('/oauth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' },
    body: gzipSync(form)
  })
  t.equal(status, 200)
})

t.test('etags', async (t) => {
  const { url } = await startHost(t, {}, { prepare: (app) => app.register(etag) })
  const portal = wire(url)
  await keepsContract(t, portal)

  const answers = [
    await portal.authorize(),
    await portal.authorize({ client_id: 'unknown' }),
    await portal.token({ code: await portal.code() }),
    await portal.user(await portal.accessToken())
  ]
  const etags = answers.map(({ headers }) => headers.get('etag'))
  t.strictSame(etags, [null, null, null, null], 'a response that must not be stored has no ETag')
})
