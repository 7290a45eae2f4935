// A login page that is given as text gets return_to in its query, whatever else it has.
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { loginLocation } from '../../lib/http/login-location.ts'

const PAGES = ['/login', '/', '/a/login', 'https://login.example', 'https://login.example/a']
/** Each, and what stands before return_to. */
const QUERIES = { '': '?', '?': '?&', '?lang=en': '?lang=en&', '?a=1&b=?': '?a=1&b=?&', '?return=/x': '?return=/x&' }
const FRAGMENTS = ['', '#', '#form', '#/login?tab=1', '#a?b&return_to=x', '#a#b']

t.test('address, query and fragment stay, return_to is the last of the query', async (t) => {
  const url = '/oauth/authorize?state=a%26b&x=?'
  const returnTo = 'return_to=%2Foauth%2Fauthorize%3Fstate%3Da%2526b%26x%3D%3F'
  for (const page of PAGES) {
    for (const [query, before] of Object.entries(QUERIES)) {
      for (const fragment of FRAGMENTS) {
        const given = page + query + fragment
        t.equal(loginLocation(given, url, {} as FastifyRequest), page + before + returnTo + fragment, given)
      }
    }
  }
})
