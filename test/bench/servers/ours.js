import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { currentUser, portal } from '../host.js'

/** This package, or that of another checkout. `extra` is work in microseconds that each sign-in does besides. */
export async function start ({ checkout, redisUrl, extra = 0 }) {
  const { default: partnerSso } = await import(pathToFileURL(join(checkout, 'dist/index.js')))
  const app = Fastify()
  await app.register(partnerSso, {
    portal,
    currentUser: (request) => currentUser(request.headers.cookie),
    portalEligibility (user) {
      work(extra)
      return user.record
    },
    redis: redisUrl,
    storeTimeout: 30_000 // other work on the machine must not end the run
  })
  return app
}

function work (microseconds) {
  const end = performance.now() + microseconds / 1000
  while (performance.now() < end);
}
