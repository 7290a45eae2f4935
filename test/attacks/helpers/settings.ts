/** How long a test runs: short by default, as long as the environment variable says in a soak. */
export function rounds (name: string, usual: number): number {
  return Number(process.env[name] ?? usual)
}

export { seed } from '../../helpers/seed.ts'

/** The text with half characters replaced: what URLSearchParams can encode. */
export function wellFormed (text: string): string {
  return Buffer.from(text).toString()
}

/** Characters of a code, and of the first part of a token. */
export const CODE = 44
export const LOCATOR = 20

/**
 * Times the processor time of a usual request that any other one may take. The mutation run sets another limit: changes
 * that are asleep cost time, too.
 */
export const COST_LIMIT = Number(process.env.COST_LIMIT ?? 10)
