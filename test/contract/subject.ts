// An app that keeps the contract, in one of many configurations. The checks see only what is visible from outside.
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import Fastify50 from 'fastify-5.0'
import type { Test } from 'tap'
import type {
  EligibilityContext, PartnerSsoEvent, PartnerSsoOptions, Portal, UserInformation
} from '../../lib/index.ts'
import { Fastify } from '../helpers/fastify.ts'
import type { Factory } from '../helpers/fastify.ts'
import { shiftedClocks } from '../clock.ts'
import type { ShiftedClocks } from '../clock.ts'
import { partnerApp, personOf, PORTAL, RECORDS } from '../app.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { injecting, wire } from '../wire.ts'
import type { Wire } from '../wire.ts'
import { hostKinds } from './hosts.ts'
import type { CaseOf } from './pairwise.ts'
import { openStore, storeKinds } from './stores.ts'
import type { StoreAccess } from './stores.ts'

export const LIFETIMES = { codeLifetime: 600, tokenLifetime: 3000 }

const fastifies = { '5.0.0': Fastify50, newest: Fastify } as unknown as Record<string, Factory>

export const dimensions = {
  portal: ['one', 'two', 'function'],
  host: Object.keys(hostKinds),
  user: ['partner user', 'client user of client level'],
  logLevel: ['off', 'debug'],
  store: storeKinds,
  loginPage: ['none', 'address', 'function'],
  fastify: Object.keys(fastifies),
  rewriteUrl: [false, true],
  prefix: ['', '/tenant/1'],
  secrets: ['one', 'new and old'],
  transport: ['socket', 'in process']
} as const

export type Configuration = CaseOf<typeof dimensions>

/** The host's functions, which a check may replace for a while. */
export interface Behaviour {
  currentUser (request: FastifyRequest, reply: FastifyReply): unknown
  portalEligibility (user: unknown, context: EligibilityContext): unknown
}

/** A log line. */
export type Line = Record<string, unknown> & { level: number, msg: string, reason?: string, clientId?: string }

type Options = Partial<PartnerSsoOptions<any>>

/** How another process of the same host differs. */
export interface Difference {
  options?: Options
  portal?: Partial<Portal>
}

export interface Subject {
  /** The portal as it is registered, with the secret that it uses. */
  portal: Omit<Portal, 'clientSecret'> & { clientSecret: string }
  /** Its requests. */
  at: Wire
  /** The record of a user, as the portal must get it. */
  recordOf (person: string): UserInformation
  /** The events since the last call. */
  events (): PartnerSsoEvent[]
  /** What `onEvent` got as the cause of the last event. */
  cause (): unknown
  /** The errors that the host's `onError` hooks got since the last call, as error trackers have them. */
  failures (): Error[]
  /** The log lines since the last call. */
  lines (): Line[]
  /** The lowest level that is logged. */
  lowestLevel: number
  /** Which of the portal's secrets its requests use. */
  secretIndex: number
  /** Whether one portal is registered: the error page of an unknown portal links to it. */
  isOnlyPortal: boolean
  /** The prefix of the routes. */
  prefix: string
  loginPage: Configuration['loginPage']
  store: StoreAccess
  /** The clocks of the app and its store. */
  clocks: ShiftedClocks
  behaviour: Behaviour
  /** Another process of the same host, on the same store. */
  another (difference: Difference): Promise<Subject>
}

const users: Record<Configuration['user'], { level: 'partner' | 'client', changes: object }> = {
  'partner user': { level: 'partner', changes: {} },
  'client user of client level': {
    level: 'client',
    changes: {
      type: 'client',
      control_role: 'Client Administrator',
      product_role: 'Product Read Only',
      client_name: 'Shop',
      client_id: 4711
    }
  }
}

const loginPages: Record<Configuration['loginPage'], PartnerSsoOptions['loginPage']> = {
  none: undefined,
  address: '/login?lang=en#form',
  function: (to, { method }) => `https://login.example/é/${method}?to=${encodeURIComponent(to)}`
}

const lowestLevels: Record<Configuration['logLevel'], number> = { off: Infinity, debug: 20 }

/** The plugin reads the URL that was sent, not what a host makes of it for its router. */
const rewriting: FastifyServerOptions = { rewriteUrl: ({ url = '' }) => url.replace(/\?.*|$/s, '?state=rewritten') }

/** Starts an app of the configuration. */
export function startSubject (t: Test, configuration: Configuration, redis: RedisServer): Promise<Subject> {
  const clocks = shiftedClocks(t)
  return start(t, configuration, { clocks, store: openStore(configuration.store, redis, clocks) }, {})
}

async function start (
  t: Test, configuration: Configuration, around: Pick<Subject, 'clocks' | 'store'>, difference: Difference
): Promise<Subject> {
  const { store } = around
  const { level, changes } = users[configuration.user]
  const clientSecret = configuration.secrets === 'one' ? PORTAL.clientSecret : ['the new secret', PORTAL.clientSecret]
  const registered = { ...PORTAL, clientSecret, level, ...difference.portal }
  const other = { ...PORTAL, clientId: 'other' }
  const secrets = [registered.clientSecret].flat()
  const portal = { ...registered, clientSecret: secrets.at(-1) as string }
  const userRecord = (person: string): UserInformation =>
    ({ ...RECORDS[person as keyof typeof RECORDS], ...changes }) as UserInformation
  const behaviour: Behaviour = {
    currentUser: personOf,
    portalEligibility: (person) => person === 'eve' ? null : userRecord(String(person))
  }
  const events: PartnerSsoEvent[] = []
  let lastCause: unknown
  const lines: Line[] = []
  const host = hostKinds[configuration.host] ?? {}
  const factory = fastifies[configuration.fastify] as Factory
  const stream = { write: (line: string) => { lines.push(JSON.parse(line) as Line) } }
  const { logLevel } = configuration
  const failures: Error[] = []
  const portals = {
    one: registered,
    two: [other, registered],
    function: (clientId: string) => clientId === registered.clientId ? registered : null
  }
  const app = partnerApp({
    factory,
    login: false,
    server: {
      logger: logLevel === 'off' ? false : { level: logLevel, stream },
      forceCloseConnections: true,
      ...configuration.rewriteUrl ? rewriting : {},
      ...host.server?.(factory)
    },
    async prepare (app) {
      app.addHook('onError', async (_request, _reply, error) => { failures.push(error) })
      await host.prepare?.(app)
    },
    options: {
      portal: portals[configuration.portal],
      // One of them is async, one is not.
      currentUser: async (request: FastifyRequest, reply: FastifyReply) => await behaviour.currentUser(request, reply),
      portalEligibility: (user: unknown, context: EligibilityContext) => behaviour.portalEligibility(user, context),
      storeTimeout: 10_000,
      onEvent (event: PartnerSsoEvent, _request: unknown, cause: unknown) {
        events.push(event)
        lastCause = cause
      },
      prefix: configuration.prefix,
      ...LIFETIMES,
      loginPage: loginPages[configuration.loginPage],
      ...store.options,
      ...host.options,
      ...difference.options
    } as PartnerSsoOptions<string>
  })
  t.teardown(() => app.close())
  await app.ready()
  const isInProcess = configuration.transport === 'in process'
  const base = isInProcess ? 'http://partner.example' : await app.listen({ port: 0, host: '127.0.0.1' })
  const { prefix } = configuration
  return {
    portal,
    at: wire(base + prefix, portal, isInProcess ? { fetch: injecting(app) } : {}),
    recordOf: userRecord,
    events: () => events.splice(0),
    cause: () => lastCause,
    failures: () => failures.splice(0),
    lines: () => lines.splice(0)
      .filter(({ req, res, msg }) => req === undefined && res === undefined && !msg.startsWith('Server')),
    lowestLevel: lowestLevels[logLevel],
    secretIndex: secrets.length - 1,
    isOnlyPortal: configuration.portal === 'one',
    prefix,
    loginPage: configuration.loginPage,
    ...around,
    behaviour,
    another: async (difference) => await start(t, configuration, around, difference)
  }
}
