import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent, PartnerSsoOptions, UserInformation } from '../../lib/index.ts'
import { PORTAL } from '../app.ts'
import { Fastify } from './fastify.ts'

interface Teardown { teardown (stop: () => unknown): void }

export interface User { id: string, eligible: boolean }

export { PORTAL }

/** The record of the user with this identifier. */
export function recordOf (id: string): UserInformation {
  return {
    external_id: id,
    email: `${id}@partner.example`,
    name: `Name of ${id}`,
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  }
}

/**
 * Options of a host whose user is named in the header x-user; `nobody-…` is not eligible. Its store may take as long as
 * the option allows: no busy machine takes longer by chance.
 */
export function hostOptions (overrides: Partial<PartnerSsoOptions<User>> = {}): PartnerSsoOptions<User> {
  return {
    portal: PORTAL,
    storeTimeout: 30_000,
    currentUser: ({ headers: { 'x-user': id } }) =>
      typeof id === 'string' ? { id, eligible: !id.startsWith('nobody') } : null,
    portalEligibility: ({ id, eligible }) => eligible ? recordOf(id) : null,
    ...overrides
  }
}

export interface Host {
  app: FastifyInstance
  /** Where it listens. */
  url: string
  events: PartnerSsoEvent[]
}

/** A partner's app with the plugin, listening on a free port. */
export async function startHost (
  t: Teardown,
  overrides: Partial<PartnerSsoOptions<User>> = {},
  { server = {}, prepare = () => {}, finish = () => {} }: {
    server?: FastifyServerOptions
    /** What the host does before it registers the plugin. */
    prepare?: (app: FastifyInstance) => unknown
    /** What the host does after it. */
    finish?: (app: FastifyInstance) => unknown
  } = {}
): Promise<Host> {
  const app = Fastify(server) as FastifyInstance
  t.teardown(() => app.close())
  const events: PartnerSsoEvent[] = []
  await prepare(app)
  await app.register(partnerSso<User>, hostOptions({ onEvent: (event) => events.push(event), ...overrides }))
  await finish(app)
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }), events }
}
