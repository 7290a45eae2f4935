// A login page that is given as text gets return_to in its query, whatever else it has.
import Fastify from 'fastify'
import t from 'tap'
import { loginLocation } from '../../lib/http/login-location.ts'

const PAGES = ['/login', '/', '/a/login', 'https://login.example', 'https://login.example/a']
const QUERIES = ['', '?', '?lang=en', '?a=1&b=?', '?return=/x']
const FRAGMENTS = ['', '#', '#form', '#/login?tab=1', '#a?b&return_to=x', '#a#b']

t.test('address, query and fragment stay, return_to is the last of the query', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/oauth/authorize', (request) => PAGES.flatMap((page) => QUERIES.flatMap((query) =>
    FRAGMENTS.map((fragment) => ({ page, query, fragment, url: loginLocation(page + query + fragment, request) })))))
  const asked = '/oauth/authorize?state=a%26b&x=?#'
  const made = (await app.inject(asked)).json<Array<Record<'page' | 'query' | 'fragment' | 'url', string>>>()
  t.equal(made.length, PAGES.length * QUERIES.length * FRAGMENTS.length)
  for (const { page, query, fragment, url } of made) {
    const given = page + query + fragment
    const [before, after] = url.split('return_to=', 2) as [string, string]
    t.equal(before, `${page}${query === '' ? '?' : `${query}&`}`, given)
    t.equal(decodeURIComponent(after.split('#')[0] as string), asked.replace(/#$/, ''), given)
    t.equal(url.slice(url.indexOf('#', before.length)), fragment === '' ? url.at(-1) : fragment, given)
  }
})
