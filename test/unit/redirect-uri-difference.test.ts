// In what a refused redirect_uri differs: one word, and nothing of the text that was given.
import t from 'tap'
import { redirectUriDifference } from '../../lib/http/redirect-uri-difference.ts'

const REGISTERED = 'https://portal.example/oauth/Callback?tenant=1'

const cases: Record<string, string[]> = {
  'trailing slash': ['https://portal.example/oauth/Callback/?tenant=1'],
  case: ['https://portal.example/oauth/callback?tenant=1', 'HTTPS://PORTAL.EXAMPLE/oauth/Callback?tenant=1'],
  encoding: [
    'https%3A%2F%2Fportal.example%2Foauth%2FCallback%3Ftenant%3D1', 'https://portal.example/oauth/%43allback?tenant=1',
    'https://portal.example/oauth/Callback?tenant=%31'
  ],
  scheme: ['http://portal.example/oauth/Callback?tenant=1', 'http://evil.example:81/', 'x', '//portal.example/'],
  host: ['https://evil.example/oauth/Callback?tenant=1', 'https://portal.example.evil.example:444/',
    'https://user@portal.example/oauth/Callback?tenant=1', 'https:///oauth/Callback'],
  port: ['https://portal.example:443/oauth/Callback?tenant=1', 'https://portal.example:/oauth/Callback?tenant=1',
    'https://portal.example:8443/x'],
  path: ['https://portal.example/oauth/Callback/x?tenant=1', 'https://portal.example', 'https://portal.example/?a',
    'https://portal.example/oauth/Callback//?tenant=1', 'https://portal.example/oauth/../oauth/Callback?tenant=1'],
  query: ['https://portal.example/oauth/Callback', 'https://portal.example/oauth/Callback?tenant=2',
    `${REGISTERED}&a=1`, `${REGISTERED}#`, `${REGISTERED}&%zz`]
}

t.test('each difference', async (t) => {
  for (const [difference, given] of Object.entries(cases)) {
    for (const uri of given) t.equal(redirectUriDifference(uri, REGISTERED), difference, uri)
  }
})

t.test('other registered ones: with a slash at the end, without a path, with an IPv6 host', async (t) => {
  for (const [given, registered, difference] of [
    ['https://portal.example/cb', 'https://portal.example/cb/', 'trailing slash'],
    ['https://portal.example/a%2520b', 'https://portal.example/a%20b', 'encoding'],
    ['https://portal.example%2Fcb', 'https://portal.example/cb', 'encoding'],
    ['https://portal.example/cb?a=+b', 'https://portal.example/cb?a=%20b', 'encoding'],
    ['http://[::1]:3000/cb', 'http://[::1]:3001/cb', 'port']
  ] as const) t.equal(redirectUriDifference(given, registered), difference, given)
})
