import { redirectTarget } from '../../flow/browser.ts'
import type { Integration } from '../../flow/integration.ts'
import { authorizeUrl, tokenRequest, userRequest } from '../../flow/requests.ts'
import type { Exchange, WireRequest } from '../../flow/wire.ts'
import { jsonObject, statusOf } from '../../flow/wire.ts'
import { withHeader } from './edits.ts'
import { expectNoStore } from './headers.ts'
import { Failed } from './errors.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

/** Rules on all responses that the other rules got. They come last. */
export const SEEN_RULES: readonly Rule[] = [
  {
    id: 'service.malformed',
    section: 'RFC 9110 §15.5.1',
    severity: 'should',
    sentence: 'A request that cannot be decoded, or has a long value, is refused; the service does not fail.',
    fix: 'Respond with 400 where a part of the request cannot be decoded or looked up.',
    test: async (service) => {
      for (const request of malformed(service.integration)) {
        const exchange = await service.integration.send(request)
        expect(statusOf(exchange) < 500, `${nameOf(exchange)}`)
      }
    }
  },
  {
    id: 'service.internals-shown',
    section: 'RFC 9110 §17.1',
    severity: 'should',
    sentence: 'No response has a stack trace or an error of a database in it.',
    fix: 'Log what went wrong, and respond with an error of OAuth: an attacker learns from the rest.',
    test: async (service) => {
      const shown = service.seen.find(({ response }) => INTERNALS.test(String(response?.body)))
      if (shown !== undefined) {
        throw new Failed(`${nameOf(shown)}: a stack trace or a database error`)
      }
    }
  },
  {
    id: 'service.token-shown',
    section: 'RFC 6750 §5.3',
    severity: 'should',
    sentence: 'A token is in the body of its response, and in no header.',
    fix: 'Send the token in the body only: not in a cookie, nor in a header that proxies log.',
    test: async (service) => {
      const shown = service.seen.find(({ response }) => {
        const { access_token: token } = jsonObject(response) ?? {}
        return typeof token === 'string' && token.length >= SHORTEST_SECRET &&
          response?.headers.some(([, value]) => value.includes(token))
      })
      if (shown !== undefined) throw new Failed(`${nameOf(shown)}: the token is in a header`)
    }
  },
  {
    id: 'service.error-characters',
    section: 'RFC 6749 §5.2',
    severity: 'must',
    sentence: 'error and error_description have printable ASCII characters only, without " and \\.',
    fix:
      'Write error_description in ASCII, with \' for ", and repeat nothing of the request in it.',
    test: async (service) => {
      for (const exchange of service.seen) {
        for (const text of errorTextsOf(exchange)) {
          expect(
            /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(text),
            `${nameOf(exchange)}: ${JSON.stringify(text)}`
          )
        }
      }
    }
  },
  {
    id: 'service.secret-shown',
    section: 'RFC 6749 §10.1',
    severity: 'must',
    sentence: 'No response has the client_secret in it.',
    fix: 'Say in a refusal which parameter is wrong, not which value is expected.',
    test: async (service) => {
      const { clientSecret } = service.integration
      const shown = service.seen.find((exchange) => shows(exchange, clientSecret))
      if (shown !== undefined) {
        throw new Failed(`${nameOf(shown)}: the client_secret is in the response`)
      }
    }
  },
  {
    id: 'service.refusal-no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'No refusal of the token or the user endpoint is cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoints.',
    after: ['token.no-store', 'user.no-store'],
    test: async (service) => {
      for (const exchange of service.seen.filter((one) => isRefusal(service, one))) {
        try {
          expectNoStore(exchange)
        } catch (error) {
          throw new Failed(`${nameOf(exchange)}: ${(error as Failed).message}`)
        }
      }
    }
  }
]

/** Stack traces of Node, Java and Python; errors of PostgreSQL, MySQL and Oracle. */
const INTERNALS =
  /(?:\n|\\n)\s+at [^\n]*[:(]\d+|Traceback \(most recent|SQLSTATE|ORA-\d{5}|SQL syntax|syntax error at or near/

/** Longer than a column of a database may be. */
const LONG = 'x'.repeat(5000)

/**
 * With half a character of UTF-8, with a long code or token, and with credentials that are not
 * Base64 or have no colon.
 */
function malformed (integration: Integration): WireRequest[] {
  const half = '&x=%E0%A4%A'
  const token = tokenRequest(integration, 'an-unknown-code')
  const visit = { method: 'GET', url: authorizeUrl(integration, 'the-state') + half, headers: [] }
  return [
    visit,
    { ...token, body: token.body + half },
    tokenRequest(integration, LONG),
    userRequest(integration, LONG),
    ...['Basic', 'Basic %', 'Basic eHh4', 'Bearer'].flatMap((credentials) =>
      [token, userRequest(integration, '')].map(withHeader('Authorization', credentials)))
  ]
}

function errorTextsOf (exchange: Exchange): string[] {
  const json = jsonObject(exchange.response) ?? {}
  const target = redirectTarget(exchange, exchange.request.url)
  const sent = new URL(target ?? exchange.request.url).searchParams
  // A redirect without state leads to a page of the application, whose parameters are its own.
  const redirected = target !== null && sent.has('state') ? Object.fromEntries(sent) : {}
  return [json, redirected].flatMap(({ error, error_description: text }) => [error, text])
    .filter((text) => typeof text === 'string')
}

/** Whether a response shows the secret. It may repeat one that its request has. */
function shows ({ request, response }: Exchange, secret: string): boolean {
  const isShort = secret.length < SHORTEST_SECRET
  const sent = [new URLSearchParams(request.body), new URL(request.url).searchParams]
  const isSent = request.headers.some(([name]) => name === 'Authorization') ||
    sent.flatMap((parameters) => [...parameters.values()]).some((value) => value.includes(secret))
  if (isShort || isSent || response === undefined) return false
  return [response.body, ...response.headers.map(([, value]) => value)].some((text) =>
    text.includes(secret))
}

/** A shorter secret may be a word of the page. */
const SHORTEST_SECRET = 8

function isRefusal ({ integration }: Service, { request, response }: Exchange): boolean {
  const { method, url } = request
  const endpoints = [`POST ${integration.tokenUrl}`, `GET ${integration.userUrl}`]
  const isEndpoint = endpoints.includes(`${method} ${url}`)
  return isEndpoint && (response?.status === 400 || response?.status === 401)
}

const nameOf = ({ request, response }: Exchange): string =>
  `${request.method} ${new URL(request.url).pathname}, ${response?.status}`
