// An app whose log is read: what the samples of the runbook are made of.
import type { Test } from 'tap'
import type { PartnerSsoOptions } from '../../../lib/index.ts'
import { startHost } from '../../helpers/host.ts'
import type { User } from '../../helpers/host.ts'
import { wire } from '../../helpers/wire.ts'
import type { Wire } from '../../helpers/wire.ts'

/** A log line as pino has written it, without time, process and host. */
export type Line = Record<string, unknown> & { level: number, msg: string, event?: string, reason?: string }

export interface Scene {
  url: string
  portal: Wire
  /** Everything logged so far but Fastify's own lines. */
  lines (): Line[]
}

export type Options = Partial<PartnerSsoOptions<User>>

/** Starts an app with the plugin. */
export async function startScene (t: Test, options: Options = {}): Promise<Scene> {
  const lines: Line[] = []
  const stream = { write: (line: string) => { lines.push(normalized(JSON.parse(line) as Line)) } }
  const { url } = await startHost(t, options, {
    server: { logger: { level: 'debug', stream }, forceCloseConnections: true }
  })
  return { url, portal: wire(url), lines: () => lines.filter(({ req, res, msg }) => !isOfFastify({ req, res, msg })) }
}

function isOfFastify ({ req, res, msg }: { req: unknown, res: unknown, msg: string }): boolean {
  return req !== undefined || res !== undefined || msg.startsWith('Server listening')
}

/** What differs from run to run is left out or replaced. */
function normalized ({ time, pid, hostname, ...line }: Line): Line {
  const { reqId, err, cause } = line
  return {
    ...line,
    ...reqId === undefined ? {} : { reqId: 'req-1' },
    ...typeof cause === 'string' ? { cause: cause.replaceAll(/127\.0\.0\.1:\d+/g, 'redis.example:6379') } : {},
    ...typeof err === 'object' ? { err: { ...err, stack: '…' } } : {}
  }
}
