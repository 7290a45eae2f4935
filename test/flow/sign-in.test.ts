// A user who is logged in at the partner enters the portal: spec section 1, on both stores.
import t from 'tap'
import { type Test } from 'tap'
import { recordOf, startHost } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

const stores = {
  memory: async () => ({}),
  redis: async (t: Test) => {
    const { url, keyPrefix } = await someRedis(t)
    return { redis: url, keyPrefix }
  }
}

for (const [name, options] of Object.entries(stores)) {
  t.test(`on ${name}`, async (t) => {
    const { url, events } = await startHost(t, await options(t))
    const portal = wire(url)

    const authorized = await portal.authorize({ state: 'af0ifjsldkj' })
    t.equal(authorized.status, 302)
    t.match(authorized.headers.get('location'),
      /^https:\/\/portal\.example\/oauth\/callback\?code=[\w-]{44}&state=af0ifjsldkj$/)
    const code = authorized.redirect.get('code') as string

    const issued = await portal.token({ code })
    t.equal(issued.status, 200)
    t.match(issued.headers.get('content-type'), /^application\/json/)
    t.strictSame(Object.keys(issued.json), ['token_type', 'access_token'])
    t.equal(issued.json.token_type, 'Bearer')

    const answered = await portal.user(issued.json.access_token)
    t.equal(answered.status, 200)
    t.match(answered.headers.get('content-type'), /^application\/json/)
    t.strictSame(answered.json, recordOf('alice'))

    t.equal((await portal.user(issued.json.access_token)).status, 401, 'the token is used up')
    t.equal((await portal.token({ code })).status, 400, 'the code is used up')
    t.strictSame(events.map(({ type, reason }) => `${type} ${reason}`), [
      'code_issued ok', 'token_issued ok', 'user_information_returned ok',
      'request_rejected token_unknown', 'request_rejected code_unknown'
    ])
  })
}
