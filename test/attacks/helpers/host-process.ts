// One of several processes of a partner's app that share one Redis: argv holds the options as JSON.
import Fastify from 'fastify'
import partnerSso from '../../../lib/index.ts'
import type { PartnerSsoEvent } from '../../../lib/index.ts'
import { hostOptions } from '../../helpers/host.ts'
import type { User } from '../../helpers/host.ts'

const reasons: Record<string, number> = {}
const count = ({ type, reason }: PartnerSsoEvent) => {
  reasons[`${type} ${reason}`] = (reasons[`${type} ${reason}`] ?? 0) + 1
}

const app = Fastify()
await app.register(partnerSso<User>, hostOptions({ onEvent: count, ...JSON.parse(process.argv[2] as string) }))
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('message', () => {
  (globalThis as { gc?: () => void }).gc?.()
  process.send?.({ reasons, heap: process.memoryUsage().heapUsed })
})
process.once('disconnect', () => process.exit())
process.send?.({ url })
