/**
 * A fresh process that measures one start-up step and prints its milliseconds:
 * `probe.js import|import-beside-fastify|register …`.
 */
const [, , step, subject, redisUrl] = process.argv

const steps = {
  async import () {
    return timed(() => import(subject))
  },

  /** What is left to load in a process that has Fastify already. */
  async 'import-beside-fastify' () {
    await import('fastify')
    return timed(() => import(subject))
  },

  /** From an app that is there to an app that is ready, with nothing, or the plugin on the store named. */
  async register () {
    const { default: Fastify } = await import('fastify')
    const plugin = subject === 'nothing' ? undefined : (await import('fastify-partner-sso')).default
    const app = Fastify()
    return timed(async () => {
      if (plugin) app.register(plugin, options(subject === 'redis' ? { redis: redisUrl } : {}))
      await app.ready()
    })
  }
}

function options (store) {
  return {
    portal: {
      loginUrl: 'https://portal.example/external-oauth/3f9c',
      clientId: 'portal',
      clientSecret: 'secret',
      redirectUri: 'https://portal.example/callback'
    },
    currentUser: () => null,
    portalEligibility: () => null,
    ...store
  }
}

async function timed (work) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

console.log(await steps[step]())
process.exit()
