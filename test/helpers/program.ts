import { run } from '../../lib/simulator/run.ts'
import type { Wait } from '../../lib/simulator/process.ts'
import { PORTAL } from '../app.ts'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

export interface Terminal { out: string, err: string }

export interface Ran extends Terminal { code: number }

interface Around {
  isTerminal?: boolean
  env?: Record<string, string>
  wait?: Wait
  stop?: AbortSignal
}

/** Runs the program in this process. */
export async function program (argv: string[], { env = {}, ...around }: Around = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await run(argv, {
    env,
    out: (text) => { out += text },
    err: (text) => { err += text },
    isTerminal: false,
    stop: new AbortController().signal,
    ...around
  })
  return { code, out, err }
}

/** Runs `serve` until the test has ended. Returns what it writes. */
export async function serve (t: Teardown, argv: string[], env: Record<string, string>): Promise<Terminal> {
  const terminal = { out: '', err: '' }
  const stop = new AbortController()
  const running = run(['serve', '--timeout', '60', ...argv], {
    env,
    out (text) { terminal.out += text },
    err (text) { terminal.err += text },
    isTerminal: false,
    stop: stop.signal
  })
  t.teardown(async () => {
    stop.abort()
    if (await running !== 0) throw new Error(`serve did not exit with 0: ${terminal.err}`)
  })
  await Promise.race([running, until(() => terminal.out !== '')])
  return terminal
}

/** `check` against a server of the tests. It waits long for a busy machine. */
export function check (baseUrl: string, more: string[] = [], around: Around = {}): Promise<Ran> {
  const argv = ['check', '--base-url', baseUrl, '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri]
  const env = { PORTAL_CLIENT_SECRET: PORTAL.clientSecret }
  return program([...argv, '--timeout', '60', ...more], { env, ...around })
}

interface Report {
  stopped?: string
  summary: Record<string, number>
  rules: Array<{ id: string, severity: string, outcome: string, got?: string, fix?: string, reason?: string }>
}

/** `check --json`, read. */
export async function report (
  baseUrl: string, more: string[] = [], around: Around = {}
): Promise<Report & { code: number, err: string }> {
  const { code, out, err } = await check(baseUrl, ['--json', ...more], around)
  return { ...JSON.parse(out) as Report, code, err }
}
