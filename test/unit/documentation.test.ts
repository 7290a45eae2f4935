// What an API document says of the routes; test/hosts/swagger makes whole documents of it.
import t from 'tap'
import { documented } from '../../lib/http/documentation.ts'
import { authorizeRoute } from '../../lib/routes/authorize.ts'
import { tokenRoute } from '../../lib/routes/token.ts'
import { userRoute } from '../../lib/routes/user.ts'
import { UserInformation } from '../../lib/user-information.ts'

const TYPES = ['object', 'string', 'number', 'null']

const { documentation: authorize } = authorizeRoute({} as never) as { documentation: any }
const { documentation: token } = tokenRoute({} as never) as { documentation: any }
const { documentation: user } = userRoute({} as never) as { documentation: any }

/** Everything in a tree, with the path to it. */
function * walk (value: unknown, path: string): Generator<[string, unknown]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield * walk(inner, `${path}.${key}`)
}

t.test('nothing is left blank, and every type is one', async (t) => {
  for (const [path, value] of walk({ authorize, token, user }, '')) {
    const isEmpty = typeof value === 'object' && Object.keys(value as object).length === 0
    t.notOk(value === undefined || value === '' || (isEmpty && !path.endsWith('.not')), path)
    if (path.endsWith('.type') && typeof value === 'string') t.ok(TYPES.includes(value), `${path}: ${value}`)
    if (/\.(?:description|summary)$/.test(path)) t.match(value, /^.{5,}/, path)
  }
})

t.test('what a request must have', async (t) => {
  t.strictSame(authorize.querystring.required, ['client_id', 'redirect_uri', 'response_type', 'state'])
  t.strictSame(authorize.querystring.properties.response_type.enum, ['code'])
  t.strictSame(authorize.querystring.properties.code_challenge_method.enum, ['S256'])
  t.strictSame(token.body.required, ['grant_type', 'code', 'redirect_uri'])
  t.strictSame(token.body.properties.grant_type.enum, ['authorization_code'])
  t.strictSame(token.consumes, ['application/x-www-form-urlencoded'])
  t.strictSame(user.headers.required, ['authorization'])
})

t.test('what a response has', async (t) => {
  const { 200: issued, 400: refused, 401: unauthorized, 503: unavailable } = token.response
  t.strictSame(issued.required, ['token_type', 'access_token'])
  t.strictSame(issued.properties.token_type.enum, ['Bearer'])
  const refusals = [
    refused, unauthorized, unavailable, user.response[400], user.response[401], user.response[503],
    authorize.response[400]
  ]
  for (const refusal of refusals) {
    t.strictSame(refusal.required, ['error', 'error_description'])
    t.strictSame(Object.keys(refusal.properties), refusal.required)
  }
  for (const { headers } of [unauthorized, user.response[401]]) t.strictSame(Object.keys(headers), ['www-authenticate'])
  t.strictSame(Object.keys(unavailable.headers), ['retry-after'])
  t.equal(user.response[200].anyOf, UserInformation.anyOf, 'the schema of the record itself')
})

t.test('what the host says of a route stays, but for what would validate or serialize', async (t) => {
  const parts = { body: {}, querystring: {}, query: {}, params: {}, headers: {}, response: {} }
  const ofHost = { tags: ['sso'], hide: true, ...parts }
  const { config, schema } = documented(authorize, ofHost)
  t.strictSame(schema, { tags: ['sso'], hide: true })
  const { swaggerTransform } = config as { swaggerTransform: (route: object) => unknown }
  t.strictSame(swaggerTransform({ url: '/a' }), { schema: { ...authorize, ...ofHost }, url: '/a' })
  t.strictSame(documented(authorize).schema, {})
})
