import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

/** Ends the program with one plain sentence and exit code 2: it could not run. */
export class CannotRun extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<Known extends Options> = ReturnType<typeof parseArgs<{ options: Known }>>['values']

/**
 * Reads the flags of a command.
 *
 * @throws CannotRun for an unknown flag, a missing value or a stray argument
 */
export function readFlags<Known extends Options> (args: string[], options: Known): Values<Known> {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ')
    throw new CannotRun(`${sentence}. --help lists the flags.`)
  }
}

/** The environment variable that has the value of a flag. */
export const variableOf = (flag: string): string => `PORTAL_${flag.toUpperCase().replaceAll('-', '_')}`

/** The value of a flag that must be given. @throws CannotRun that names the flag */
export function needed (flag: string, value = '', other = ''): string {
  if (value !== '') return value
  throw new CannotRun(`--${flag} is needed${other}.`)
}

/** A number between two bounds. @throws CannotRun */
export function numberOf (flag: string, value: string, from: number, to: number): number {
  const number = Number(value)
  if (value.trim() !== '' && number >= from && number <= to) return number
  throw new CannotRun(`--${flag} must be a number from ${from} to ${to}.`)
}
