// A login page that is given as text gets return_to in its query, whatever else it has. What a function makes of a
// request becomes one line of visible ASCII: nobody sends a header of their own by it.
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { loginLocation } from '../../lib/http/login-location.ts'

const request = {} as FastifyRequest

t.test('address, query and fragment stay, return_to is the last of the query', async (t) => {
  const returnTo = 'return_to=%2Foauth%2Fauthorize%3Fstate%3Da%2526b%26x%3D%3F'
  for (const [page, expected] of [
    ['https://login.example?', `https://login.example?&${returnTo}`],
    ['/?a=1&b=?#form', `/?a=1&b=?&${returnTo}#form`],
    ['/login#a?b&return_to=x#b', `/login?${returnTo}#a?b&return_to=x#b`]
  ] as const) t.equal(loginLocation(page, '/oauth/authorize?state=a%26b&x=?', request), expected, page)
})

t.test('what a function returns', async (t) => {
  for (const [text, escaped] of [
    ['\r\nX-Injected: yes', '%0D%0AX-Injected:%20yes'],
    ['\0\x7f\u2028\u010d', '%00%7F%E2%80%A8%C4%8D'],
    ['\u{1f600}é', '%F0%9F%98%80%C3%A9'],
    ['%0d%0a<>"', '%0d%0a<>"']
  ] as const) t.equal(loginLocation(() => text, '', request), escaped, escaped)
  t.throws(() => loginLocation(() => '\ud800', '', request), URIError, 'a lone surrogate cannot be sent')
  t.throws(() => loginLocation(() => '', '', request), /loginPage must return a URL/)
})
