// Whether a function of the host has replied: the table of lib/http/call-hook.ts, row by row, in an app whose `onSend`
// hook holds each response back, so that Fastify does not tell of it.
import { once } from 'node:events'
import { request as send } from 'node:http'
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { callHook } from '../../lib/http/call-hook.ts'
import type { HookResult } from '../../lib/http/call-hook.ts'

type Call = (reply: FastifyReply) => unknown

const replied = { replied: true }
const value = (value: unknown, hasBegunReply = false) => ({ replied: false, value, hasBegunReply })

/** What a function does, and what becomes of it while `onSend` holds its response back. */
const rows: Record<string, [call: Call, result: object]> = {
  'returns reply': [(reply) => reply, replied],
  'returns the promise of reply': [async (reply) => await reply.send('mine'), replied],
  'sends a page': [(reply) => { void reply.type('text/html').send('mine') }, replied],
  'sends text': [(reply) => { void reply.send('mine') }, replied],
  redirects: [(reply) => { void reply.redirect('/mine') }, replied],
  'redirects, and returns null': [(reply) => { void reply.redirect('/mine'); return null }, replied],
  'sends JSON, and returns false': [(reply) => { void reply.send({ mine: true }); return false }, replied],
  'sends a status alone': [(reply) => { void reply.code(403).send() }, replied],
  'sends a status alone, and returns a user': [
    (reply) => { void reply.code(403).send(); return 'ada' }, value('ada', true)
  ],
  'sends a page, and returns a user': [(reply) => { void reply.send('mine'); return 'ada' }, value('ada', true)],
  'sets a status, and returns null': [(reply) => { reply.code(401); return null }, value(null, true)],
  'sets another header, and returns null': [(reply) => { reply.header('x-mine', '1'); return null }, value(null)],
  'returns undefined': [() => undefined, value(undefined)],
  'returns the promise of null': [async () => null, value(null)],
  'returns a user': [() => 'ada', value('ada')],
  'returns the promise of a user': [async () => 'ada', value('ada')]
}

/** The result of the call, in an app of which the browser sees the response only after `release`. */
async function resultOf (call: Call): Promise<HookResult<unknown>> {
  const app = Fastify()
  let release = () => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  app.addHook('onSend', async () => { await released })
  const result = new Promise<HookResult<unknown>>((resolve, reject) => {
    app.get('/', async (_request, reply) => {
      const called = callHook(reply, 'the hook threw', () => call(reply))
      // A function that waits for its own reply goes on when that is sent.
      if (call === rows['returns the promise of reply']?.[0]) release()
      called.then(resolve, reject).finally(release)
      await called.catch(() => {})
      if (!reply.sent) reply.hijack().raw.end()
      return reply
    })
  })
  // The response may be cut short above: only the result counts.
  const response = app.inject('/').catch(() => {})
  try {
    return await result
  } finally {
    await response
    await app.close()
  }
}

for (const [name, [call, expected]] of Object.entries(rows)) {
  t.test(name, async (t) => t.strictSame(await resultOf(call), expected))
}

t.test('throws before it has replied: the throw is passed on', async (t) => {
  await t.rejects(resultOf(() => { throw new Error('of the host') }), { message: 'of the host' })
  await t.rejects(resultOf(async () => await Promise.reject(new Error('of the host'))), { message: 'of the host' })
})

t.test('throws after its reply has left: the throw is logged', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  let result: unknown
  app.get('/', async (_request, reply) => {
    result = await callHook(reply, 'the hook threw', () => {
      void reply.send('mine')
      throw new Error('of the host')
    })
    return reply
  })
  t.equal((await app.inject('/')).body, 'mine')
  t.strictSame(result, replied)
  t.match(lines.map((line) => JSON.parse(line)), [{ msg: 'partner-sso: the hook threw, after a reply' }])
  await app.close()
})

t.test('a browser that has left: nothing more is done', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let browserLeaves = () => {}
  const result = new Promise<unknown>((resolve) => {
    app.get('/', async (_request, reply) => {
      resolve(await callHook(reply, 'the hook threw', async () => {
        const closed = once(reply.raw, 'close')
        browserLeaves()
        await closed
      }))
      return reply
    })
  })
  const browser = send(await app.listen({ port: 0, host: '127.0.0.1' }))
  browser.on('error', () => {})
  browserLeaves = () => { browser.destroy() }
  browser.end()
  t.strictSame(await result, replied)
})
