// The host wraps what its routes answer, and answers errors and unknown paths in its own way.
import t from 'tap'
import type { Test } from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isPrivate } from '../contract/replies.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('preSerialization', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('preSerialization', async (_request, _reply, payload) => ({ data: payload }))
      app.get('/own', async () => ({ a: 1 }))
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame((await wire(url).send('/own')).json, { data: { a: 1 } })
})

t.test('setReplySerializer', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.setReplySerializer((payload, status) => JSON.stringify({ status, payload }))
      app.get('/own', async () => ({ a: 1 }))
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame((await wire(url).send('/own')).json, { status: 200, payload: { a: 1 } })
})

t.test('onSend that sets headers of its own', async (t) => {
  const { url } = await startHost(t, {
    routeOptions: {
      onSend: async (_request, reply) => {
        reply.header('cache-control', 'public, max-age=60').header('x-frame-options', 'ALLOWALL')
      }
    }
  }, {
    prepare (app) {
      app.addHook('onSend', async (_request, reply) => {
        reply.headers({
          'cache-control': 'public',
          pragma: 'cache',
          'referrer-policy': 'unsafe-url',
          'content-security-policy': 'frame-ancestors *'
        })
      })
    }
  })
  await keepsContract(t, wire(url))
})

t.test('hooks that set a status, a type and a cookie in advance', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('onRequest', async (request, reply) => {
        if (!request.is404) reply.code(202).type('text/csv').header('set-cookie', 'seen=1')
      })
    }
  })
  await keepsContract(t, wire(url))
})

t.test('setErrorHandler and setNotFoundHandler', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ problem: 'of the host' }))
      app.setNotFoundHandler((_request, reply) => reply.code(404).send({ problem: 'not there' }))
      app.get('/own', async () => { throw new Error('own') })
    }
  })
  await keepsContract(t, wire(url))
  t.equal((await wire(url).send('/own')).text, '{"problem":"of the host"}')
  t.equal((await wire(url).send('/oauth/none')).text, '{"problem":"not there"}')
  t.equal((await wire(url).send('/oauth/user', { method: 'POST' })).text, '{"problem":"not there"}')
})

// What a hook of the host throws, on its way through our routes.
const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

const HOST_ERROR = { code: 'HOST_ERROR', statusCode: 409 }

async function throwing (
  t: Test, stage: typeof stages[number], handled: boolean, fields: object = HOST_ERROR
): Promise<string> {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      if (handled) {
        app.setErrorHandler((error: Error & { code?: string }, _request, reply) =>
          reply.code(418).send({ code: error.code, message: error.message }))
      }
      // One signature serves all four: each of them may return a promise.
      app.addHook(stage as 'onRequest', async () => {
        throw Object.assign(new Error(`from ${stage}`), fields)
      })
    }
  })
  return url
}

for (const stage of stages) {
  t.test(`what ${stage} throws`, async (t) => {
    const handled = wire(await throwing(t, stage, true))
    for (const answer of [await handled.authorize(), await handled.token({ code: 'x' }), await handled.user('x')]) {
      t.equal(answer.status, 418, 'reaches the error handler of the host')
      t.strictSame(answer.json, { code: 'HOST_ERROR', message: `from ${stage}` })
      isPrivate(t, answer)
    }
    const plain = wire(await throwing(t, stage, false))
    for (const answer of [await plain.authorize(), await plain.token({ code: 'x' }), await plain.user('x')]) {
      t.equal(answer.status, 409, 'or the one of Fastify')
      t.strictSame(answer.json, { statusCode: 409, code: 'HOST_ERROR', error: 'Conflict', message: `from ${stage}` })
      isPrivate(t, answer)
    }
  })
}

for (const stage of stages) {
  t.test(`what ${stage} throws with a code of Fastify's body parsers`, async (t) => {
    for (const code of ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'FST_ERR_CTP_BODY_TOO_LARGE']) {
      const portal = wire(await throwing(t, stage, true, { code }))
      const answer = await portal.token({ code: 'x' })
      t.strictSame([answer.status, answer.json], [418, { code, message: `from ${stage}` }], 'is the host\'s')
      isPrivate(t, answer)
    }
  })
}

t.test('what is thrown and is no Error', async (t) => {
  for (const thrown of ['text', { a: 1 }]) {
    const { url } = await startHost(t, {}, {
      prepare (app) {
        app.setErrorHandler((error, _request, reply) => reply.code(418).send({ thrown: error }))
        app.addHook('preHandler', async () => await Promise.reject(thrown))
      }
    })
    const portal = wire(url)
    for (const answer of [await portal.authorize(), await portal.token({ code: 'x' }), await portal.user('x')]) {
      t.strictSame([answer.status, answer.json], [418, { thrown }])
    }
  }
})
