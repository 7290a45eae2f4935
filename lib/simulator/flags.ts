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
    if (value !== undefined && value !== '') return value
    const variable = flag.variable === undefined ? '' : ` (or the environment variable ${flag.variable})`
    throw new CannotRun(`--${name} is needed${variable}.`)
  }

  /** A number between two bounds. @throws CannotRun */
  number (name: string, from: number, to: number): number {
    const number = Number(this.text(name))
    if (Number.isFinite(number) && number >= from && number <= to) return number
    throw new CannotRun(`--${name} must be a number from ${from} to ${to}.`)
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
 * Reads the command line; a flag goes before its environment variable, which goes before the default.
 *
 * @throws CannotRun for an unknown flag, a missing value or a stray argument
 */
export function readFlags (flags: readonly Flag[], argv: string[], env: Environment): Values {
  const given = parsed(argv, Object.fromEntries(flags.map(({ name, value }) =>
    [name, { type: value === undefined ? 'boolean' : 'string', multiple: true }])))
  return new Values(new Map(flags.flatMap((flag): Array<[string, string[]]> => {
    const own = given[flag.name]
    if (own !== undefined) return [[flag.name, [own].flat().map(String)]]
    const other = (flag.variable === undefined ? undefined : env[flag.variable]) || flag.fallback
    const isOff = flag.value === undefined && /^(?:0|false|no)$/i.test(String(other))
    return other === undefined || isOff ? [] : [[flag.name, [other]]]
  })))
}

function parsed (args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new CannotRun(`${(error as Error).message.split('. ')[0]}. --help lists the flags.`)
  }
}

/** The help's lines on the flags: name, meaning, variable and default, one line each; `layOut` breaks them. */
export function flagsHelp (flags: readonly Flag[]): string {
  return flags.map(({ name, value, many, fallback, variable, meaning }) => {
    const head = `  --${name}${value === undefined ? '' : ` <${value}>`}`
    const repeated = many === true ? ['may be repeated'] : []
    const defaults = fallback === undefined ? [] : [`default ${fallback}`]
    const shown = [...repeated, ...defaults, ...variable === undefined ? [] : [variable]].join('; ')
    return `${head}  ${meaning}${shown === '' ? '' : ` [${shown}]`}`
  }).join('\n')
}

/** Below this many columns a name and its meaning do not fit beside each other. */
const NARROW = 72

/** Breaks a help text into lines of the width: names and their meanings in two columns where there is room. */
export function layOut (text: string, width: number): string {
  return text.split('\n').flatMap((line) => {
    const [, head, meaning] = /^( {2}\S.*?\S) {2,}(\S.*)$/.exec(line) ?? []
    if (head !== undefined && meaning !== undefined) return (width < NARROW ? stacked : beside)(head, meaning, width)
    const indent = line.slice(0, line.length - line.trimStart().length)
    if (indent !== '' && width >= NARROW) return line
    return wrap(line.trim(), width - indent.length).map((part) => indent + part)
  }).join('\n')
}

const COLUMN = 36

function beside (head: string, meaning: string, width: number): string[] {
  return wrap(meaning, width - COLUMN).map((line, at) => `${(at === 0 ? head : '').padEnd(COLUMN)}${line}`)
}

function stacked (head: string, meaning: string, width: number): string[] {
  const indented = (text: string, by: number): string[] => wrap(text, width - by).map((line) => ' '.repeat(by) + line)
  return [...indented(head.trim(), 2), ...indented(meaning, 6)]
}

/** Breaks a text into lines of at most the width: at spaces, and within a word that is longer than a line. */
export function wrap (text: string, width: number): string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ').flatMap((one) => one.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? [''])) {
    const last = String(lines.at(-1))
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
