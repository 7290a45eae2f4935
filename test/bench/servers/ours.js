import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { currentUser, portal } from '../host.js'

/** This package, or that of another checkout. */
export async function start ({ checkout, redisUrl }) {
  const { default: partnerSso } = await import(pathToFileURL(join(checkout, 'dist/index.js')))
  const app = Fastify()
  await app.register(partnerSso, {
    portal,
    currentUser: (request) => currentUser(request.headers.cookie),
    portalEligibility: (user) => user.record,
    redis: redisUrl,
    storeTimeout: 30_000 // other work on the machine must not end the run
  })
  return app
}
