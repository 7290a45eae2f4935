import type { FastifyInstance } from 'fastify'

/** What the plugin adds to the app that registers it, as `app.partnerSso`. */
export interface PartnerSsoStatus {
  /**
   * Whether sign-ins can be served now: the store of each registration on this app has stored a value and returned it.
   * Takes `storeTimeout` at most and never rejects. For a readiness route.
   */
  ready (): Promise<boolean>
}

declare module 'fastify' {
  interface FastifyInstance {
    partnerSso: PartnerSsoStatus
  }
}

type Probe = () => Promise<boolean>

const probes = new WeakMap<PartnerSsoStatus, Probe[]>()

/** Adds a probe to the app's status, and the status to the app where it has none. A child scope shares its parent's. */
export function addProbe (app: FastifyInstance, probe: Probe): void {
  const known = probes.get(app.partnerSso)
  if (known !== undefined) {
    known.push(probe)
    return
  }
  const list = [probe]
  const status = { ready: async () => (await Promise.all(list.map((probe) => probe()))).every(Boolean) }
  probes.set(status, list)
  app.decorate('partnerSso', status)
}
