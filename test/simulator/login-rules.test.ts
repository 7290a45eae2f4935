// What is said of logins: which of several readings is certain, and which is advice.
import t from 'tap'
import type { WireRequest } from '../../lib/testing/wire.ts'
import { altered, isAuthorize, redirect, verdict } from './trial.ts'
import type { Answer, Trial } from './trial.ts'

const isAnonymous = (request: WireRequest): boolean =>
  isAuthorize(request) && !request.headers.some(([name]) => name === 'Cookie')
const page = (body: string): Answer => ({ headers: [['Content-Type', 'text/html']], body })

/** A service whose login page, or what stands in its place, is this. */
async function login (answer: Answer | ((request: WireRequest) => Answer)): Promise<Trial> {
  const answerTo = typeof answer === 'function' ? answer : () => answer
  return await altered((request) => isAnonymous(request) ? answerTo(request) : null)
}

t.test('a Strict cookie: certain, unless the page without it may reload itself', async (t) => {
  const cookie = 'sid=ada; SameSite=Strict'
  for (const [answer, severity] of [
    [page('<form method=post>'), 'must'],
    [{ status: 401, body: 'Log in first.' }, 'must'],
    [page('<script>location.reload()</script>'), 'should'],
    [page('<body onload="location.reload()">'), 'should'],
    [page('<meta http-equiv="refresh" content="0">'), 'should']
  ] as const) {
    t.match(await verdict('login.cookie', { ...await login(answer), cookie }), {
      outcome: 'fail', severity, got: /^SameSite=Strict on sid; without it (?:200|401)/
    })
  }
})

t.test('a user who is not logged in and ends nowhere: what to do about it', async (t) => {
  t.match(await verdict('login.page', await login({ status: 403, body: 'No.' })), {
    outcome: 'fail', severity: 'should', fix: /^A user who is not logged in has no way to log in here: /
  })
  const gone = await altered((request) => {
    if (isAnonymous(request)) return redirect('/login')
    return new URL(request.url).pathname.endsWith('/login') ? { status: 404, body: 'Gone.' } : null
  })
  const base = new URL('http://localhost/app')
  for (const trial of [gone, { changes: { ...gone.changes, base } }]) {
    t.match(await verdict('login.page', trial), {
      outcome: 'fail',
      severity: 'must',
      got: /^404 .* at \/login$/,
      fix: 'Create the login page, or correct the option loginPage.'
    }, 'also where the address with the path of the base URL in front responds the same')
  }
})

t.test('a login page on http: certain behind an https address, advice behind an http one', async (t) => {
  const trial = await login(redirect('http://login.partner.example/'))
  t.match(await verdict('address.no-downgrade', trial), { outcome: 'fail', severity: 'should' })
  const base = new URL('https://partner.example')
  t.match(await verdict('address.no-downgrade', { changes: { ...trial.changes, base } }), {
    outcome: 'fail', severity: 'must', got: 'a redirect to http://login.partner.example/'
  })
})

t.test('a return address that leads nowhere: certain, unless a session may know its query', async (t) => {
  const returning = async (address: string): Promise<Trial> => await altered((request) => {
    if (isAnonymous(request)) return redirect(`/login?return_to=${encodeURIComponent(address)}`)
    return request.url.endsWith(address) ? { status: 400, body: 'no' } : null
  })
  t.match(await verdict('login.return', await returning('/oauth/authorize')), {
    outcome: 'fail', severity: 'should', got: /^\/oauth\/authorize without its query: 400/
  })
  t.match(await verdict('login.return', await returning('/oauth/authorize?client_id=other')), {
    outcome: 'fail', severity: 'must', got: /^\/oauth\/authorize: 400/
  })
})

t.test('a login page at the address of the request itself', async (t) => {
  t.match(await verdict('login.return', await login(page('<form method=post>'))), {
    outcome: 'untested', reason: 'the login page is at the address of the request'
  })
})

t.test('a login page that may know by itself where to go back to', async (t) => {
  let logins = 0
  const numbered = await altered((request) => {
    if (isAnonymous(request)) return redirect(`/login?number=${++logins}`)
    return new URL(request.url).pathname === '/login' ? page('<form method=post>') : null
  })
  t.match(await verdict('login.return', numbered), {
    outcome: 'untested', reason: 'the login page names no return address'
  })
})

t.test('a form that drops the return address: certain, unless a script may send it', async (t) => {
  for (const [script, severity] of [['', 'must'], ['<script src="/login.js"></script>', 'should']] as const) {
    const trial = await altered((request) => {
      if (isAnonymous(request)) return redirect(`/login?return_to=${encodeURIComponent(request.url)}`)
      return new URL(request.url).pathname === '/login' ? page(`<form method=post action="/login">${script}`) : null
    })
    t.match(await verdict('login.return', trial), { outcome: 'fail', severity, got: /^a form with action="\/login"/ })
  }
})

const SESSION = [['Set-Cookie', 'session=1; Path=/'], ['Set-Cookie', 'csrf=2; Path=/']] as const

t.test('a cookie that logs nobody in, where the service sets one of another name', async (t) => {
  const trial = await altered((request) => isAuthorize(request)
    ? { status: 401, headers: [...SESSION, ['Content-Type', 'text/html']], body: 'Log in.' }
    : null)
  t.match(await verdict('authorize.answer', { ...trial, cookie: 'sid=old' }), {
    stopped: /^The cookie sid was sent and logs nobody in: has it expired.*; the service itself sets session, csrf\?/
  })
})

t.test('a user who is sent to another site: unknown if everybody is sent there, else refused', async (t) => {
  const away = (user: string, anybody: string) => altered((request) =>
    isAuthorize(request) ? redirect(isAnonymous(request) ? anybody : user) : null)
  const login = 'https://login.partner.example/'
  t.match(await verdict('authorize.answer', await away('https://sorry.partner.example/', login)), {
    stopped: /^The service refuses this user \(302/
  })
  t.match(await verdict('authorize.answer', await away(`${login}?number=2`, `${login}?number=1`)), {
    stopped: /^The cookie sid was sent and logs nobody in/
  })
})
