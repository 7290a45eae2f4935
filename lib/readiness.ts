import { type FastifyInstance } from 'fastify'

/** What the plugin adds to the host's app as `app.partnerSso`. */
export interface PartnerSsoStatus {
  /**
   * Whether sign-ins can be served: the store of each registration made here just now kept something and gave it back.
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

/** Adds a probe to the status of the app, which is created for the first. A scope inside shares that of its parent. */
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
