// What the serializers of a route let through into Fastify's own log lines.
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { maskingSerializers } from '../../lib/http/logged-request.ts'

const PINO = Symbol.for('pino.serializers')
const logger = (serializers?: object): FastifyBaseLogger => ({ [PINO]: serializers }) as unknown as FastifyBaseLogger
/** What is logged, where these parameters are expected. */
const masked: Array<[expected: string[], given: string, logged: string]> = [
  [['state', 'scope'], '/a?token=hush&state=4&client_secret=hush&x', '/a?…&state=4&…'],
  [['state'], '/a#token=hush&state=4', '/a#…&state=4'],
  [['state'], '/a;token=hush;state=4', '/a;…;state=4'],
  [['state'], '/a?states=hush&xstate=hush&state', '/a?…'],
  [[], '/a?state=hush&=hush', '/a?…'],
  [['state'], 'HTTPS://id:hush@host/a?state=4&b=hush', 'HTTPS://…@host/a?state=4&…'],
  [['state'], 'http://id:hu/sh@hu@host/a', 'http://…@host/a'],
  [['state'], '//id:hush@host/a', '//…@host/a'],
  [['state'], '/@a?state=4', '/@a?state=4']
]

t.test('expected parameters stay; any other, and user information, is masked', async (t) => {
  const own = logger({ req: (request: object) => ({ ...request, method: 'GET' }) })
  for (const [expected, given, logged] of masked) {
    const { req } = maskingSerializers(own, expected)
    t.strictSame(req?.({ url: given }), { url: logged, method: 'GET' }, given)
  }
})

t.test('what is no URL is left alone', async (t) => {
  for (const logged of [undefined, 'text', { url: 7 }]) {
    t.equal(maskingSerializers(logger({ req: () => logged }), []).req?.({}), logged, JSON.stringify(logged))
  }
})

t.test('a logger without serializers is not given one', async (t) => {
  const given = { res: () => 'res' }
  t.equal(maskingSerializers(logger({ res: () => 'other' }), [], given), given)
  t.strictSame(maskingSerializers(logger(), []), {})
})
