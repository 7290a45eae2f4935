// Whether a function of the host has replied: the table of lib/http/call-hook.ts, row by row, in an app whose `onSend`
// hook holds each response back, so that `reply.sent` is still false when the function returns.
import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { callHook } from '../../lib/http/call-hook.ts'
import type { HookResult } from '../../lib/http/call-hook.ts'

type Call = (reply: FastifyReply) => unknown

const replied = { replied: true }
const returned = (value: unknown, hasBegunReply = false) => ({ replied: false, value, hasBegunReply })

/** What a function does, and the result of `callHook` while `onSend` holds the response back. */
const rows: Record<string, [call: Call, result: object]> = {
  'returns reply': [(reply) => reply, replied],
  'sends a page': [(reply) => { void reply.type('text/html').send('mine') }, replied],
  'sends text': [(reply) => { void reply.send('mine') }, replied],
  redirects: [(reply) => { void reply.redirect('/mine') }, replied],
  'redirects, and returns null': [(reply) => { void reply.redirect('/mine'); return null }, replied],
  'sends JSON, and returns false': [(reply) => { void reply.send({ mine: true }); return false }, replied],
  'sends a status alone': [(reply) => { void reply.code(403).send() }, replied],
  'sends a status alone, and returns a user': [
    (reply) => { void reply.code(403).send(); return 'ada' }, returned('ada', true)
  ],
  'sends a page, and returns a user': [(reply) => { void reply.send('mine'); return 'ada' }, returned('ada', true)],
  'sets a status, and returns null': [(reply) => { reply.code(401); return null }, returned(null, true)],
  'sets another header, and returns null': [(reply) => { reply.header('x-mine', '1'); return null }, returned(null)],
  'returns undefined': [() => undefined, returned(undefined)],
  'returns the promise of null': [async () => null, returned(null)],
  'returns a user': [() => 'ada', returned('ada')],
  'returns the promise of a user': [async () => 'ada', returned('ada')]
}

/** The result of the call, in an app whose `onSend` hook holds the response back until there is that result. */
async function resultOf (call: Call, holdsBack = true): Promise<HookResult<unknown>> {
  const app = Fastify()
  let release = () => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  if (holdsBack) app.addHook('onSend', async () => { await released })
  const result = new Promise<HookResult<unknown>>((resolve, reject) => {
    app.get('/', async (_request, reply) => {
      const called = callHook(reply, 'the hook threw', () => call(reply))
      called.then(resolve, reject).finally(release)
      await called.catch(() => {})
      // Where nobody has replied, the request ends here. A response that is still held back may be cut short.
      if (!reply.sent) reply.hijack().raw.end()
      return reply
    })
  })
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

t.test('waits for its own response: nothing holds that back, and it has replied', async (t) => {
  t.strictSame(await resultOf(async (reply) => await reply.send('mine'), false), replied)
})

t.test('throws before its reply has left: the throw is passed on', async (t) => {
  await t.rejects(resultOf(() => { throw new Error('of the host') }), { message: 'of the host' })
  await t.rejects(resultOf(async () => await Promise.reject(new Error('of the host'))), { message: 'of the host' })
  const sendsAndThrows: Call = (reply) => { void reply.send('mine'); throw new Error('of the host') }
  await t.rejects(resultOf(sendsAndThrows), { message: 'of the host' })
})

t.test('throws after its reply has left: the throw is logged', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
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
  t.match(lines.map((line) => JSON.parse(line)), [{
    msg: 'partner-sso: the hook threw, after a reply', err: { message: 'of the host' }
  }])
})

t.test('the browser has left: a function that returns undefined counts as having replied, no other', async (t) => {
  for (const [value, expected] of [
    [undefined, replied], [null, returned(null)], ['ada', returned('ada')]
  ] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    let browserLeaves = () => {}
    const result = new Promise<unknown>((resolve) => {
      app.get('/', async (_request, reply) => {
        resolve(await callHook(reply, 'the hook threw', async () => {
          const closed = once(reply.raw, 'close')
          browserLeaves()
          await closed
          return value
        }))
        return reply
      })
    })
    const browser = sendRequest(await app.listen({ port: 0, host: '127.0.0.1' }))
    browser.on('error', () => {})
    browserLeaves = () => { browser.destroy() }
    browser.end()
    t.strictSame(await result, expected, `returns ${value}`)
  }
})
