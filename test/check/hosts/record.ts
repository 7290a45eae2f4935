// Does the portal get what it needs?
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { at, json, location, onSend, record, server, status } from './changes.ts'
import type { Change, Row, User } from './host.ts'
import { inTurn, ownStore, recordOf, USERS } from './host.ts'

/** `portalEligibility` keeps its user in a variable while it waits. */
function oneVariable (use: (user: User, current: User) => User = (_user, current) => current): Change {
  let current: User
  return {
    plugin: {
      async portalEligibility (user) {
        current = user
        await setTimeout(1)
        return user.isAgent ? recordOf(use(user, current)) : null
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
const collapsed = (): Change => ({
  async wrap (start) {
    const app = await start()
    let running: ReturnType<typeof app.inject> | undefined
    return {
      async inject (options) {
        if (!options.url.endsWith('/oauth/user')) return app.inject(options)
        running ??= setTimeout(2).then(() => app.inject(options)).finally(() => { running = undefined }) as never
        return running!
      }
    }
  }
})

/** Processes, which differ in this. */
const processes = (...changes: Change[]): Change =>
  ({ wrap: async (start) => inTurn(...await Promise.all(changes.map((change) => start(change)))) })

export const RECORD: Row[] = [
  ['one variable for all requests', () => oneVariable(), 'user.other-user'],
  ['one variable for the e-mail address', () => oneVariable((user, { email }) => ({ ...user, email })),
    'user.other-user'],
  ['Ada’s record for all', record(() => recordOf(USERS.ada as User)), 'user.other-user'],
  ['the identifier undefined', record(() => ({ external_id: 'undefined' })), 'user.record'],
  ['a name of two columns', record(() => ({ name: 'null null' })), 'user.record'],
  ['a name with undefined', record(({ name }) => ({ name: `${name} undefined` })), 'user.record'],
  ['an e-mail address null', record(() => ({ email: 'null' })), 'user.record'],
  ['a name as e-mail address', record(({ name }) => ({ email: name })), 'advice:user.record'],
  ['[object Object]', record(() => ({ name: `${{}}` })), 'user.record'],
  ['escaped for HTML', record(({ name }) => ({ name: name.replace('&', '&amp;') })), 'advice:user.record'],
  ['encoded for a URL', record(({ name }) => ({ name: encodeURIComponent(name) })), 'advice:user.record'],
  ['read as Latin-1', record(({ name }) => ({ name: Buffer.from(name).toString('latin1') })), 'advice:user.record'],
  ['a partner user for the client level', { double: { level: 'client' } }, 'user.record'],
  ['another name in the record', json(({ name, ...others }) => others, at('user')), 'user.record'],
  ['token_type in lower case', json((data) => ({ ...data, token_type: 'bearer' }), at('token')), 'token.response'],
  ['text/plain', onSend((_payload, reply) => { reply.type('text/plain') }, server), 'token.response'],
  ['a plus becomes a space', location((url) => url.replaceAll('%2B', '%20').replaceAll('+', '%20')), 'authorize.state'],
  ['encoded once more', location((url) => url.startsWith('https:') ? encodeURI(url) : url), 'authorize.state'],
  ['in lower case', location((url) => url.toLowerCase()), 'authorize.state'],
  ['a parameter more', location((url) => url.includes('code=') ? `${url}&from=partner` : url), 'authorize.code'],
  ['an identifier of the sign-in', record(() => ({ external_id: crypto.randomUUID() })), 'user.other-user'],
  ['an identifier of the login', {
    remember: (reply, name, options) =>
      reply.setCookie('sid', name, options).setCookie('login', crypto.randomUUID(), { ...options, signed: false }),
    plugin: {
      portalEligibility: (user, { request }) =>
        user.isAgent ? { ...recordOf(user), external_id: String(request.cookies.login) } : null
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
    const plugin = { store: ownStore() }
    return processes({ plugin: { ...plugin, currentUser: () => null } }, { plugin }, { plugin })
  }, 'service.one-store'],
  ['two processes, one with other roles', () => {
    const plugin = { store: ownStore() }
    return processes({ plugin }, {
      plugin: {
        ...plugin,
        portalEligibility: (user) =>
          user.isAgent ? { ...recordOf(user), control_role: 'Partner Administrator' } : null
      }
    })
  }, 'service.one-store'],
  ['two processes, one with another redirect_uri', () => {
    const plugin = { store: ownStore() }
    return processes({ plugin }, { plugin, portal: { redirectUri: 'https://portal.example/old' } })
  }, 'service.one-store'],
  ['requests for the record at the same time get one response', collapsed, 'user.other-user'],
  ['two processes, the first with another redirect_uri', () => {
    const plugin = { store: ownStore() }
    return processes({ plugin, portal: { redirectUri: 'https://portal.example/old' } }, { plugin })
  }, 'service.one-store'],
  ['two processes, one with an old secret', () => {
    const plugin = { store: ownStore() }
    return processes({ plugin }, { plugin, portal: { clientSecret: 'the-secret-before-this-one' } })
  }, 'service.one-store']
]
