// What the serializers of a route let through into Fastify's own log lines.
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { maskingSerializers } from '../../lib/http/logged-request.ts'

const PINO = Symbol.for('pino.serializers')
const logger = (serializers?: object): FastifyBaseLogger => ({ [PINO]: serializers }) as unknown as FastifyBaseLogger
const url = (serializers: Record<string, (value: unknown) => unknown>, value: string): unknown =>
  (serializers.req?.({ url: value }) as { url: string }).url

const AUTHORIZE = [
  'client_id', 'redirect_uri', 'response_type', 'state', 'scope', 'code_challenge', 'code_challenge_method'
]

t.test('expected parameters stay, any other is masked', async (t) => {
  const own = { req: (request: object) => ({ ...request, method: 'GET' }) }
  const serializers = maskingSerializers(logger(own), AUTHORIZE)
  t.strictSame(serializers.req?.({ url: '/a' }), { url: '/a', method: 'GET' }, 'the host\'s serializer does its work')
  const good = '/a?client_id=1&redirect_uri=2&response_type=3&state=4&scope=5&code_challenge=6&code_challenge_method=7'
  t.equal(url(serializers, good), good)
  t.equal(url(serializers, '/a?token=hush&state=4&client_secret=hush&x'), '/a?…&state=4&…')
  t.equal(url(serializers, '/a?state=4&code=hush'), '/a?state=4&…', 'a live code')
  t.equal(url(serializers, '/a#token=hush&state=4'), '/a#…&state=4', 'for the router the path ends there')
  t.equal(url(serializers, '/a?state=4#hush'), '/a?state=4#…')
  t.equal(url(serializers, '/a;token=hush;state=4'), '/a;…;state=4')
  t.equal(url(serializers, '/a?states=hush&xstate=hush&state'), '/a?…')
})

t.test('an endpoint that expects no parameter: all are masked', async (t) => {
  const serializers = maskingSerializers(logger({ req: (request: object) => request }), [])
  for (const query of ['client_id=hush', 'state=hush&scope=hush', '=hush', 'hush', 'a=1&state=hush#hush;hush']) {
    t.match(url(serializers, `/a?${query}`), /^\/a\?…(?:[#;]…)*$/, query)
  }
  t.equal(url(serializers, '/a'), '/a')
})

t.test('user information of a target is masked', async (t) => {
  const serializers = maskingSerializers(logger({ req: (request: object) => request }), AUTHORIZE)
  const masked = {
    'http://id:hush@host/a': 'http://…@host/a',
    'HTTPS://hush@host/a?state=4&b=hush': 'HTTPS://…@host/a?state=4&…',
    'http://id:hu/sh@hu@host/a': 'http://…@host/a',
    '//id:hush@host/a': '//…@host/a',
    'http://host/a?state=4@5': 'http://host/a?state=4@5',
    '/@a?state=4': '/@a?state=4'
  }
  for (const [given, logged] of Object.entries(masked)) t.equal(url(serializers, given), logged, given)
})

t.test('what is no URL is left alone', async (t) => {
  for (const logged of [undefined, null, 'text', { url: 7 }, {}]) {
    t.equal(maskingSerializers(logger({ req: () => logged }), AUTHORIZE).req?.({}), logged, JSON.stringify(logged))
  }
})

t.test('a logger without serializers is not given one', async (t) => {
  const given = { res: () => 'res' }
  t.equal(maskingSerializers(logger(), [], given), given)
  t.equal(maskingSerializers(logger({ res: () => 'other' }), [], given), given)
  t.strictSame(maskingSerializers(logger(), []), {})
})
