// Does the portal get what it needs?
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { UserInformation } from '../../../lib/index.ts'
import { PORTAL, RECORDS, recordOf, sessionCookie } from '../../app.ts'
import { at, json, location, onSend, record, server, status } from './changes.ts'
import { appOf, inTurn, ownStore } from './row.ts'
import type { Change, Row } from './row.ts'

type Found = UserInformation | null

/** `portalEligibility` keeps what it has found in a variable while it waits. */
function oneVariable (use: (own: Found, current: Found) => Found): Change {
  let current: Found
  return {
    options: {
      async portalEligibility (person) {
        const own = recordOf(person)
        current = own
        await setTimeout(1)
        return use(own, current)
      }
    }
  }
}

/** A cache that takes the URL of a record as its key. */
function cached (): Change {
  let kept: unknown
  const isRecord = ({ url }: { url: string }): boolean => url === '/oauth/user'
  return {
    prepare (app) {
      app.addHook('onRequest', async (request, reply) => {
        if (!isRecord(request) || kept === undefined) return undefined
        return reply.type('application/json').header('cache-control', 'no-store').send(kept)
      })
      app.addHook('onSend', async (request, reply, payload) => {
        if (isRecord(request) && reply.statusCode === 200) kept = payload
      })
    }
  }
}

/** Something in front that asks the app once for requests at the same time, whatever their Authorization header. */
const collapsed: Change = {
  make () {
    const app = appOf({})
    let running: ReturnType<typeof app.inject> | undefined
    return {
      async inject (options) {
        if (!options.url.endsWith('/oauth/user')) return app.inject(options)
        running ??= setTimeout(2).then(() => app.inject(options)).finally(() => { running = undefined }) as never
        return running!
      }
    }
  }
}

/** Processes, which differ in this. */
const processes = (...changes: Change[]): Change =>
  ({ make: () => inTurn(...changes) })

const OLD_ADDRESS = { ...PORTAL, redirectUri: 'https://portal.example/old' }

export const RECORD: Row[] = [
  ['one variable for all requests', () => oneVariable((_own, current) => current), 'user.other-user'],
  ['one variable for the e-mail address', () => oneVariable((own, current) =>
    own === null || current === null ? own : { ...own, email: current.email }), 'user.other-user'],
  ['Ada’s record for all', {
    options: { portalEligibility: (person) => person === 'eve' ? null : RECORDS.ada }
  }, 'user.other-user'],
  ['the identifier undefined', record(() => ({ external_id: 'undefined' })), 'user.record'],
  ['a name of two columns', record(() => ({ name: 'null null' })), 'user.record'],
  ['a name with undefined', record(({ name }) => ({ name: `${name} undefined` })), 'user.record'],
  ['an e-mail address null', record(() => ({ email: 'null' })), 'user.record'],
  ['a name as e-mail address', record(({ name }) => ({ email: name })), 'advice:user.record'],
  ['[object Object]', record(() => ({ name: `${{}}` })), 'user.record'],
  ['escaped for HTML', record(({ name }) => ({ name: `${name} &amp; Söhne` })), 'advice:user.record'],
  ['encoded for a URL', record(({ name }) => ({ name: encodeURIComponent(name) })), 'advice:user.record'],
  ['read as Latin-1', record(({ name }) => ({ name: Buffer.from(`${name} & Söhne`).toString('latin1') })),
    'advice:user.record'],
  ['a partner user for the client level', { settings: { level: 'client' } }, 'user.record'],
  ['another name in the record', json(({ name, ...others }) => others, at('user')), 'user.record'],
  ['token_type in lower case', json((data) => ({ ...data, token_type: 'bearer' }), at('token')), 'token.response'],
  ['text/plain', onSend((_payload, reply) => { reply.type('text/plain') }, server), 'token.response'],
  ['a plus becomes a space', location((url) => url.replaceAll('%2B', '%20').replaceAll('+', '%20')), 'authorize.state'],
  ['encoded once more', location((url) => url.startsWith('https:') ? encodeURI(url) : url), 'authorize.state'],
  ['in lower case', location((url) => url.toLowerCase()), 'authorize.state'],
  ['a parameter more', location((url) => url.includes('code=') ? `${url}&from=partner` : url), 'authorize.code'],
  ['an identifier of the sign-in', record(() => ({ external_id: crypto.randomUUID() })), 'user.other-user'],
  ['an identifier of the login', {
    startSession: (person, reply) =>
      reply.header('set-cookie', sessionCookie(person)).setCookie('login', crypto.randomUUID(), { path: '/' }),
    options: {
      portalEligibility (person, { request }) {
        const record = recordOf(person)
        return record === null ? null : { ...record, external_id: String(request.cookies.login) }
      }
    }
  }, 'user.other-user'],
  ['status 201', status(() => 201, at('token')), 'token.response'],
  ['compressed unasked', onSend((payload, reply) => {
    reply.header('content-encoding', 'gzip').removeHeader('content-length')
    return gzipSync(payload)
  }, server), 'token.response'],
  ['a prefix against JSON hijacking', onSend((payload) => `)]}'\n${payload}`, server), 'token.response'],
  ['the record is cached', cached, 'user.other-user'],
  ['two processes, two stores', processes({}, {}), 'service.one-store'],
  ['sessions in two of three processes', () => {
    const options = { store: ownStore() }
    return processes({ options: { ...options, currentUser: () => null } }, { options }, { options })
  }, 'service.one-store'],
  ['two processes, one with other roles', () => {
    const options = { store: ownStore() }
    return processes({ options }, {
      options: { ...options, ...record(() => ({ control_role: 'Partner Read Only' })).options }
    })
  }, 'service.one-store'],
  ['two processes, one with another redirect_uri', () => {
    const options = { store: ownStore() }
    return processes({ options }, { options: { ...options, portal: OLD_ADDRESS } })
  }, 'service.one-store'],
  ['requests for the record at the same time get one response', collapsed, 'user.other-user'],
  ['two processes, the first with another redirect_uri', () => {
    const options = { store: ownStore() }
    return processes({ options: { ...options, portal: OLD_ADDRESS } }, { options })
  }, 'service.one-store'],
  ['two processes, one with an old secret', () => {
    const options = { store: ownStore() }
    return processes({ options }, {
      options: { ...options, portal: { ...PORTAL, clientSecret: 'the-secret-before-this-one' } }
    })
  }, 'service.one-store']
]
