import { run } from '../../lib/simulator/run.ts'
import { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } from './spec-server.ts'

export interface Ran { code: number, out: string, err: string }

/** Runs the program in this process. */
export async function program (argv: string[], { env = {}, columns }: { env?: Record<string, string>, columns?: number } = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await run(argv, { env, columns, out: (text) => { out += text }, err: (text) => { err += text }, stop: new AbortController().signal })
  return { code, out, err }
}

/** `check` against a server of the tests. */
export function check (baseUrl: string, more: string[] = [], columns?: number): Promise<Ran> {
  const argv = ['check', '--base-url', baseUrl, '--client-id', CLIENT_ID, '--redirect-uri', REDIRECT_URI, ...more]
  return program(argv, { env: { PORTAL_CLIENT_SECRET: CLIENT_SECRET }, ...(columns === undefined ? {} : { columns }) })
}

interface Report {
  stopped?: string
  summary: Record<string, number>
  rules: Array<{ id: string, severity: string, outcome: string, got?: string, fix?: string, reason?: string }>
}

/** `check --json`, read. */
export async function report (baseUrl: string, more: string[] = []): Promise<Report & { code: number, err: string }> {
  const { code, out, err } = await check(baseUrl, ['--json', ...more])
  return { ...JSON.parse(out) as Report, code, err }
}

/** The rules that do not hold: `!` before those that must, `?` before those that should. */
export const failedRules = ({ rules }: Report): string[] =>
  rules.filter(({ outcome }) => outcome === 'fail').map(({ severity, id }) => `${severity === 'must' ? '!' : '?'}${id}`)
