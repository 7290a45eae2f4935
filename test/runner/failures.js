// The failures in TAP, each as what a reader needs to go there: file and line of the TypeScript source, the row, the
// difference.

/** Lines of a difference that are shown. */
const MOST = 16

/**
 * Reads TAP, line by line, by `write`. `end` returns the failures, one text each: the names of the tests around it, the
 * lines of the sources that led to it, the difference.
 */
export async function failureReader () {
  // Not before the dependencies are installed: test/run.js does that.
  const { Parser } = await import('tap-parser')
  const failures = []
  const parser = new Parser()
  listen(parser, [], failures)
  return {
    write: (line) => { parser.write(`${line}\n`) },
    end () {
      parser.end()
      return failures
    }
  }
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
  const rows = path.filter((name) => !/^(?:compiled\/|$)/.test(name))
  const lines = [...places(at, stack), ...difference(diff, diagnostics)]
  return [rows.join(' > '), ...lines.map((line) => `    ${line}`)].join('\n')
}

/** `test/helpers/x.ts:12`: where it failed, and from where it was called. */
function places (at, stack) {
  const first = at?.fileName === undefined ? [] : [`${at.fileName}:${at.lineNumber}`]
  const frames = [...String(stack).matchAll(/(?<!compiled\/)\b((?:lib|test|examples)\/[\w./-]+\.[cm]?[jt]s:\d+)/g)]
  const all = [...new Set([...first, ...frames.map(([, place]) => place)])]
  return all.map((place, index) => index === 0 ? `at ${place}` : `from ${place}`)
}

const HEADER = /^(?:---|\+\+\+|@@)/

function difference (diff, { found, wanted, code }) {
  const lines = String(diff).trimEnd().split('\n').filter((line) => line !== '' && !HEADER.test(line))
  if (lines.length > 0) return lines.length > MOST ? [...lines.slice(0, MOST), '…'] : lines
  const values = { found, wanted, code }
  return Object.entries(values).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
}
