// Which processes of the tests run a line of lib, by the coverage that the last whole `npm test` has left in `.tap`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { COMPILED } from '../runner/compile.js'
import { COVERAGE } from '../runner/coverage.js'

export class Coverage {
  /** By compiled file: the functions that V8 has counted, and the process. */
  #runs = new Map()
  /** Seconds of each process. */
  #times = new Map()

  constructor () {
    if (!existsSync(COVERAGE)) throw new Error('There is no coverage: run the whole `npm test` first')
    for (const path of readdirSync(COVERAGE)) {
      const { name, seconds, result } = JSON.parse(readFileSync(join(COVERAGE, path), 'utf8'))
      this.#times.set(name, seconds)
      for (const { url, functions } of result) {
        const [, file] = /\/compiled\/(lib\/[^?]*)/.exec(url)
        this.#runs.set(file, [...this.#runs.get(file) ?? [], { name, functions }])
      }
    }
  }

  timeOf (name) {
    return this.#times.get(name)
  }

  /** Names of the processes that run one of the lines of a file of lib. Lines count from 0. */
  processesAt (file, first, last) {
    const compiled = file.replace(/ts$/, 'js')
    let offsets = []
    // A line inside a statement may have no place of its own.
    for (let line = first; offsets.length === 0 && line >= 0; line--) offsets = offsetsOf(compiled, line, last)
    const running = (this.#runs.get(compiled) ?? [])
      .filter(({ functions }) => offsets.some((offset) => countAt(functions, offset) > 0))
    return [...new Set(running.map(({ name }) => name))]
  }
}

/** How often V8 has seen a place run: the count of the smallest range around it. */
function countAt (functions, offset) {
  const around = functions.flatMap(({ ranges }) => ranges)
    .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
  const size = ({ startOffset, endOffset }) => endOffset - startOffset
  return around.reduce((one, other) => size(other) < size(one) ? other : one, { ...around[0] }).count ?? 0
}

/** Where the lines of the source begin in the compiled file. */
function offsetsOf (compiled, first, last) {
  const text = readFileSync(join(COMPILED, compiled), 'utf8')
  const map = new SourceMap(JSON.parse(Buffer.from(/base64,(.*)\s*$/.exec(text)[1], 'base64')))
  const offsets = []
  let offset = 0
  for (const [number, line] of text.split('\n').entries()) {
    const column = line.search(/\S/)
    const { originalLine } = map.findEntry(number, Math.max(column, 0))
    if (column >= 0 && first <= originalLine && originalLine <= last) offsets.push(offset + column)
    offset += line.length + 1
  }
  return offsets
}
