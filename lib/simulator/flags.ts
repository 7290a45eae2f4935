import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { similarName } from '../options/misspellings.ts'

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
    const [sentence = ''] = (error as Error).message.split('. ')
    const [, name = ''] = /^Unknown option '--([^']*)'/.exec(sentence) ?? []
    const meant = name === '' ? undefined : similarName(name, Object.keys(options))
    const hint = meant === undefined ? '--help lists the flags.' : `Did you mean --${meant}?`
    throw new CannotRun(`${sentence}. ${hint}`)
  }
}

/**
 * The value of a flag that must be given. @throws CannotRun that names the flag, and its
 * environment variable
 */
export function needed (flag: string, value: string | undefined, variable?: string): string {
  if (value !== undefined && value !== '') return value
  const other = variable === undefined ? '' : ` (or the environment variable ${variable})`
  throw new CannotRun(`--${flag} is needed${other}.`)
}

/** A number between two bounds. @throws CannotRun */
export function numberOf (flag: string, value: string, from: number, to: number): number {
  const number = Number(value)
  if (value.trim() !== '' && number >= from && number <= to) return number
  throw new CannotRun(`--${flag} must be a number from ${from} to ${to}.`)
}
