// The failures in TAP, each as what a reader needs to go there: file and line of the TypeScript source, the row, the
// difference.

import { existsSync, readFileSync } from 'node:fs'

/** Lines of a difference that are shown, and rows that failed alike. */
const MOST = 16
/** Characters of a line, and of the name of an outer test. */
const WIDTH = 200
const OUTER = 60

/**
 * The failures in lines of TAP, one text for all that failed alike: the names of the tests around each, the lines of
 * the sources that led to it, the difference.
 */
export async function failuresIn (lines) {
  // Not before the dependencies are installed: test/run.js does that.
  const { Parser } = await import('tap-parser')
  const failures = []
  const parser = new Parser()
  listen(parser, [], failures)
  parser.end(lines.join('\n'))
  return [...rowsByDetails(failures)].map(([details, rows]) => [...shortened(rows), details].join('\n').trimEnd())
}

/** Notes the failures of a test and of the tests in it. */
function listen (parser, path, failures) {
  let before = failures.length
  parser.on('child', (child) => {
    before = failures.length
    listen(child, [...path, child.name], failures)
  })
  parser.on('assert', ({ ok, todo, skip, name, diag }) => {
    const isOfChild = failures.length > before
    before = failures.length
    if (!ok && !todo && !skip && !isOfChild) failures.push(described([...path, name], diag ?? {}))
  })
}

function described (path, { at, stack = '', diff = '', ...diagnostics }) {
  const names = path.filter((name) => !/^(?:compiled\/|$)/.test(name))
  const details = [...places(at, stack), ...difference(diff, diagnostics)]
  return { row: rowOf(names), details: details.map((line) => `    ${cut(line)}`).join('\n') }
}

/** A test may put a whole document into a message. */
const cut = (line, width = WIDTH) => line.length > width ? `${line.slice(0, width)}…` : line

const rowOf = (names) => names.map((name, index) => cut(name, index < names.length - 1 ? OUTER : WIDTH)).join(' > ')

function rowsByDetails (failures) {
  const rows = new Map()
  for (const { row, details } of failures) rows.set(details, [...rows.get(details) ?? [], row])
  return rows
}

function shortened (rows) {
  const rest = rows.length - MOST
  return rest > 0 ? [...rows.slice(0, MOST), `… and ${rest} more`] : rows
}

/** `test/helpers/x.ts:12`: where it failed, and from where it was called. */
function places (at, stack) {
  const first = at?.fileName === undefined ? [] : [`${at.fileName}:${at.lineNumber}`]
  const frames = [...String(stack).matchAll(/(?<!compiled\/)\b((?:lib|test|examples)\/[\w./-]+\.[cm]?[jt]s:\d+)/g)]
  const all = [...new Set([...first, ...frames.map(([, place]) => place)])].filter((place) => existsSync(fileOf(place)))
  return all.map((place, index) => `${index === 0 ? 'at' : 'from'} ${place}    ${sourceOf(place)}`.trimEnd())
}

const fileOf = (place) => place.split(':')[0]

/** The line of the source: what was asserted, or called. */
function sourceOf (place) {
  const lines = readFileSync(fileOf(place), 'utf8').split('\n')
  return (lines[place.split(':')[1] - 1] ?? '').trim()
}

const HEADER = /^(?:---|\+\+\+|@@)/

function difference (diff, { found, wanted, code }) {
  const lines = String(diff).trimEnd().split('\n').filter((line) => line !== '' && !HEADER.test(line))
  if (lines.length > 0) return lines.length > MOST ? [...lines.slice(0, MOST), '…'] : lines
  const values = { found, wanted, code }
  return Object.entries(values).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
}
