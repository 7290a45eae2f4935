import { portal, users } from './host.js'
import { require } from './packages.js'

const autocannon = require('autocannon')

const client = { client_id: portal.clientId, redirect_uri: portal.redirectUri }
const encoded = (fields) => String(new URLSearchParams(fields))

/** How often autocannon looks whether it is done, in ms. By its default of a second, servers would be idle and cold. */
const TICK = 5

/** Acts as browsers and portal: makes so many whole sign-ins over the connections. Throws if a response is wrong. */
export async function signIn (url, connections, signIns) {
  const wrong = []
  const expect = (isRight, status, body) => { if (!isRight) wrong.push(`${status} ${body}`) }
  let begun = 0

  const authorize = {
    setupRequest (request, context) {
      context.user = users[begun++ % users.length]
      const path = `/oauth/authorize?${encoded({ ...client, response_type: 'code', state: `state-${begun}` })}`
      return { ...request, path, headers: { cookie: `session=${context.user.session}` } }
    },
    onResponse (status, body, context, headers) {
      context.code = /[?&]code=([^&]+)/.exec(headers.location)?.[1]
      expect(context.code, status, body)
    }
  }
  const token = {
    method: 'POST',
    path: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    setupRequest (request, { code }) {
      const fields = { ...client, client_secret: portal.clientSecret, grant_type: 'authorization_code', code }
      return { ...request, body: encoded(fields) }
    },
    onResponse (status, body, context) {
      context.token = JSON.parse(body).access_token
      expect(context.token, status, body)
    }
  }
  const user = {
    path: '/oauth/user',
    setupRequest: (request, context) => ({ ...request, headers: { authorization: `Bearer ${context.token}` } }),
    onResponse (status, body, context) {
      expect(JSON.parse(body).external_id === context.user.record.external_id, status, body)
    }
  }

  const amount = 3 * signIns
  const { errors, requests } = await autocannon({
    url, connections, amount, sampleInt: TICK, requests: [authorize, token, user]
  })
  if (wrong.length + errors > 0 || requests.total !== amount) {
    throw new Error(`${wrong.length} wrong responses, ${errors} errors: ${wrong[0]}`)
  }
}
