// Each request of a rule counts: where a service accepts one that it must refuse, or fails in its own way at that one
// alone, the rule fails.
import { createHash } from 'node:crypto'
import t from 'tap'
import type { WireRequest } from '../../lib/flow/wire.ts'
import { json, RECORDS, REDIRECT_URI, SECOND } from '../helpers/service.ts'
import type { Parts, Reply, Sent } from '../helpers/service.ts'
import { EVERY_RULE, redirect, tried } from './trial.ts'
import type { Trial } from './trial.ts'

/** What a service does wrong at one request, where that is not to accept it. */
const INSTEAD: Record<string, (request: WireRequest) => Reply> = {
  'service.malformed': () => json(500, { message: 'URIError: URI malformed\n    at decode (/app/url.js:3:5)' }),
  'authorize.no-injection': repeating,
  'token.no-injection': repeating,
  'user.no-injection': repeating
}

/** How many of a rule's requests it does not judge: the first try of two, what another rule judges. */
const NOT_JUDGED: Record<string, number> = {
  'address.endpoints': 3,
  'authorize.repeated': 1,
  'token.other-client': 1,
  'token.plain-challenge': 4,
  'user.head': 1,
  'token.replay-revokes': 1,
  'token.second-try': 11,
  'user.second-try': 2
}

/** The same in each run: how many spellings are tried depends on the letters. That of the verifier is random. */
const made = ({ made }: { made: number }): string => createHash('sha256').update(`code ${made}`).digest('base64url')
const more: Trial = {
  codeLifetime: 60, tokenLifetime: 60, second: { clientId: SECOND.id, clientSecret: SECOND.secret }
}
interface User { trial: Trial, parts: Partial<Parts>, requests: { accepted: number, refused: number } }
const USERS: Record<string, User> = {
  'by a cookie': {
    trial: { ...more, cookie: 'sid=ada; Path=/; SameSite=Lax', ineligible: 'sid=eve' },
    parts: {},
    requests: { accepted: 333, refused: 883 }
  },
  'by a header': {
    trial: { ...more, cookie: '', headers: [['X-User', 'ada']] },
    parts: { sessionOf: ({ headers }) => headers['x-user'] ?? null },
    requests: { accepted: 325, refused: 872 }
  }
}

const isRefusal = ({ status, headers }: Sent): boolean => status >= 400 ||
  headers.some(([name, value]) => name === 'Location' && /[?&]error=/.test(value))

function accepted ({ url, body }: WireRequest): Reply {
  const { pathname, searchParams } = new URL(url)
  const text = 'x'.repeat(43)
  if (pathname === '/oauth/token') return json(200, { token_type: 'Bearer', access_token: text })
  if (pathname === '/oauth/user') return json(200, RECORDS.ada as object)
  const to = String(searchParams.get('redirect_uri') ?? new URLSearchParams(body).get('redirect_uri'))
  const state = String(searchParams.get('state'))
  return redirect(`${URL.canParse(to) ? to : REDIRECT_URI}?${String(new URLSearchParams({ code: text, state }))}`)
}

/** A page, for a browser, that repeats the parameters of the request, and a header that one of them writes. */
function repeating ({ url, headers, body }: WireRequest): Reply {
  const isForBrowser = headers.some(([name, value]) => name === 'Accept' && value.includes('text/html'))
  const values = [...new URL(url).searchParams, ...new URLSearchParams(body)].flat()
  if (!isForBrowser) return json(400, { error: 'invalid_request' })
  const split = values.flatMap((value) => [.../\r\n([\w-]+): (\w+)/.exec(value)?.slice(1) ?? []])
  return {
    status: 400,
    headers: [['Content-Type', 'text/html'], ...split.length === 2 ? [split as [string, string]] : []],
    body: values.map((value) => `<p>${value}<a href="${value}">`).join('')
  }
}

/** The outcome of the rule, and which of its requests the service refused. One of them may be accepted instead. */
async function outcome (id: string, { trial, parts }: User, exception = -1) {
  const refused: boolean[] = []
  const { findings } = await tried([id], {
    ...trial,
    parts: { newCode: made, newToken: made, ...parts },
    service: async (request, own) => {
      const at = refused.push(false) - 1
      const reply = await own(request) as Sent
      refused[at] = isRefusal(reply) && new URL(request.url).pathname.startsWith('/oauth/')
      return at === exception ? (INSTEAD[id] ?? accepted)(request) : reply
    }
  })
  return { refused, outcome: findings[0]?.result.outcome }
}

for (const [name, user] of Object.entries(USERS)) {
  t.test(`a user who is known ${name}`, async (t) => {
    const requests = { accepted: 0, refused: 0 }
    for (const id of EVERY_RULE) {
      const { refused } = await outcome(id, user)
      const places = refused.flatMap((is, at) => is ? [at] : [])
      if (id !== 'token.verifier-exact') {
        requests.refused += places.length
        requests.accepted += refused.length - places.length
      }
      const outcomes = await Promise.all(places.map(async (at) => (await outcome(id, user, at)).outcome))
      const unnoticed = outcomes.filter((outcome) => outcome !== 'fail').length
      t.equal(unnoticed, NOT_JUDGED[id] ?? 0, `${id}: ${outcomes.join(' ')}`)
    }
    t.strictSame(requests, user.requests, 'as many as before; the help of check says how many it refuses')
  })
}
