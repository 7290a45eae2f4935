import { Cluster, Redis } from 'ioredis'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { listen } from './listen.js'

const stores = {
  url: (url) => ({ redis: url }),
  client: (url) => ({ redis: new Redis(url) }),
  cluster: (urls) => ({ redis: new Cluster(urls.split(',')) }),
  memory: () => ({ memoryLimit: 2_000_000 })
}

/** This package, built. */
export async function start ({ host, redisUrl, variant, options }) {
  const app = Fastify()
  await app.register(partnerSso, {
    portal: host.portals,
    currentUser: (request) => host.currentUser(request.headers.cookie) ?? null,
    portalEligibility: (user) => user.record,
    ...stores[variant](redisUrl),
    ...options
  })
  return listen(app)
}
