import { readFileSync, writeFileSync } from 'node:fs'

const readme = new URL('README.md', import.meta.url)

/** Puts `text` between the two marks of the section `name`. */
export function writeSection (name, text) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const page = readFileSync(readme, 'utf8')
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`README.md has no section ${begin} … ${end}`)
  writeFileSync(readme, `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`)
}
