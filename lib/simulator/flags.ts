import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Ends the program with one plain sentence and exit code 2: it could not run. */
export class CannotRun extends Error {}

/** A flag of the command line: how it is written, where else its value may come from, and what it means. */
export interface Flag {
  name: string
  /** Shown in the help in place of the value; a flag without one is a switch. */
  value?: string
  /** Environment variable that gives the value where the flag does not. */
  variable?: string
  fallback?: string
  /** May be given several times. */
  many?: boolean
  meaning: string
}

export type Environment = Record<string, string | undefined>

/** Values of the flags: all of them for a flag given several times; a switch that is on has the value `true`. */
export class Values {
  readonly #values: Map<string, string[]>

  constructor (values: Map<string, string[]>) {
    this.#values = values
  }

  all (name: string): string[] {
    return this.#values.get(name) ?? []
  }

  text (name: string): string | undefined {
    return this.all(name).at(-1)
  }

  on (name: string): boolean {
    return this.text(name) !== undefined
  }

  /** @throws CannotRun that names the flag and its variable */
  needed (name: string, flag: Flag): string {
    const value = this.text(name)
    if (value === undefined || value === '') throw new CannotRun(`--${name} is needed${flag.variable === undefined ? '' : ` (or the environment variable ${flag.variable})`}.`)
    return value
  }

  /** A number between two bounds. @throws CannotRun */
  number (name: string, from: number, to: number): number {
    const number = Number(this.text(name))
    if (!Number.isFinite(number) || number < from || number > to) throw new CannotRun(`--${name} must be a number from ${from} to ${to}.`)
    return number
  }

  /** One of a few words. @throws CannotRun */
  oneOf<Word extends string> (name: string, words: readonly Word[]): Word {
    const value = this.text(name)
    const word = words.find((one) => one === value)
    if (word === undefined) throw new CannotRun(`--${name} must be ${words.join(' or ')}.`)
    return word
  }
}

/**
 * Reads the command line; a flag beats its environment variable, which beats the default.
 *
 * @throws CannotRun for an unknown flag, a missing value or a stray argument
 */
export function readFlags (flags: readonly Flag[], argv: string[], env: Environment): Values {
  const options = Object.fromEntries(flags.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string', multiple: true }])) as NonNullable<ParseArgsConfig['options']>
  const given = parsed(argv, options)
  return new Values(new Map(flags.flatMap(({ name, value, variable, fallback }): Array<[string, string[]]> => {
    const own = given[name]
    if (own !== undefined) return [[name, [own].flat().map(String)]]
    const other = (variable === undefined ? undefined : env[variable]) || fallback
    if (other === undefined || (value === undefined && /^(?:0|false|no)$/i.test(other))) return []
    return [[name, [other]]]
  })))
}

function parsed (argv: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args: argv, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new CannotRun(`${(error as Error).message.split('. ')[0]}. --help lists the flags.`)
  }
}

/** The help's lines on the flags: name, meaning, variable and default. */
export function flagsHelp (flags: readonly Flag[]): string {
  const head = ({ name, value }: Flag): string => `  --${name}${value === undefined ? '' : ` <${value}>`}`
  const width = Math.max(...flags.map((flag) => head(flag).length)) + 2
  return flags.map((flag) => {
    const notes = [flag.many === true ? 'may be repeated' : '', flag.fallback === undefined ? '' : `default ${flag.fallback}`, flag.variable ?? ''].filter((note) => note !== '')
    const lines = wrap(`${flag.meaning}${notes.length === 0 ? '' : ` [${notes.join('; ')}]`}`, 100 - width)
    return `${head(flag).padEnd(width)}${lines.join(`\n${' '.repeat(width)}`)}`
  }).join('\n')
}

/** Breaks a text into lines of at most the width, at spaces. */
export function wrap (text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
