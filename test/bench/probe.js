/** Runs one step of a start in this fresh process, and prints its milliseconds. */
import { portal } from './host.js'

const steps = {
  fastify: () => timed(() => import('fastify')),
  plugin: () => timed(() => import('fastify-partner-sso')),
  alone: () => ready(),
  async together () {
    const { default: partnerSso } = await import('fastify-partner-sso')
    return await ready((app) => app.register(partnerSso, {
      portal, currentUser: () => null, portalEligibility: () => null
    }))
  }
}

async function ready (register = () => {}) {
  const { default: Fastify } = await import('fastify')
  const app = Fastify()
  return await timed(async () => {
    register(app)
    await app.ready()
  })
}

async function timed (work) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

console.log(await steps[process.argv[2]]())
process.exit()
