// What an API document says of the routes; test/hosts/swagger makes whole documents of it.
import t from 'tap'
import {
  authorizeDocumentation, documented, tokenDocumentation, userDocumentation
} from '../../lib/routes/documentation.ts'

const TYPES = ['object', 'string', 'number', 'null']

/** Everything in a tree, with the path to it. */
function * walk (value: unknown, path: string): Generator<[string, unknown]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield * walk(inner, `${path}.${key}`)
}

t.test('nothing is left blank, and every type is one', async (t) => {
  for (const [path, value] of walk({ authorizeDocumentation, tokenDocumentation, userDocumentation }, '')) {
    const blank = value === undefined || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0)
    t.notOk(blank, path)
    if (path.endsWith('.type') && typeof value === 'string') t.ok(TYPES.includes(value), `${path}: ${value}`)
    if (/\.(?:description|summary)$/.test(path)) t.match(value, /^[A-Z].{5,}/, path)
  }
})

t.test('what a request must bring', async (t) => {
  t.strictSame(authorizeDocumentation.querystring.required, ['client_id', 'redirect_uri', 'response_type', 'state'])
  t.strictSame(authorizeDocumentation.querystring.properties.response_type.enum, ['code'])
  t.strictSame(authorizeDocumentation.querystring.properties.code_challenge_method.enum, ['S256'])
  t.strictSame(tokenDocumentation.body.required, ['grant_type', 'code', 'redirect_uri'])
  t.strictSame(tokenDocumentation.body.properties.grant_type.enum, ['authorization_code'])
  t.strictSame(tokenDocumentation.consumes, ['application/x-www-form-urlencoded'])
  t.strictSame(userDocumentation.headers.required, ['authorization'])
})

t.test('what an answer holds', async (t) => {
  const { 200: token, 400: refused, 401: unauthorized, 503: unavailable } = tokenDocumentation.response
  t.strictSame(token.required, ['token_type', 'access_token'])
  t.strictSame(token.properties.token_type.enum, ['Bearer'])
  for (const refusal of [refused, unauthorized, unavailable, userDocumentation.response[400], userDocumentation.response[401], authorizeDocumentation.response[400]]) {
    t.strictSame(refusal.required, ['error', 'error_description'])
    t.strictSame(Object.keys(refusal.properties), refusal.required)
  }
  const user = userDocumentation.response[200]
  t.strictSame(user.required, ['external_id', 'email', 'name', 'type', 'control_role', 'product_role'])
  t.strictSame(Object.keys(user.properties).sort(), [...user.required, 'client_id', 'client_name', 'client_external_id'].sort())
  t.strictSame(user.properties.type.enum, ['partner', 'client'])
  t.strictSame(user.properties.control_role.enum, ['Partner Administrator', 'Partner Read Only', 'Client Administrator', 'Client Read Only'])
})

t.test('what the host says of a route stays, but for what would validate or serialize', async (t) => {
  const ofHost = { tags: ['sso'], hide: true, body: {}, querystring: {}, query: {}, params: {}, headers: {}, response: {} }
  const { config, schema } = documented(authorizeDocumentation, ofHost)
  t.strictSame(schema, { tags: ['sso'], hide: true })
  const { swaggerTransform } = config as { swaggerTransform: (route: object) => unknown }
  t.strictSame(swaggerTransform({ url: '/a' }), { schema: { ...authorizeDocumentation, ...ofHost }, url: '/a' })
  t.strictSame(documented(authorizeDocumentation).schema, {})
})
