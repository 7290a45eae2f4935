/** The known name that a name looks like a misspelling of; undefined when it looks like none. */
export function similarName (name: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => distance(plain(name), plain(candidate)) <= (candidate.length < 7 ? 1 : 2))
}

/** Ignores case and separators: `code_lifetime` and `codeLifeTime` mean `codeLifetime`. */
function plain (name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

/** Edit distance: how many letters are added, left out, replaced, or swapped with their neighbour. */
function distance (a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + Number(a[row - 1] !== b[column - 1])
      // Before the first letter the index is -1: undefined differs from every letter.
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwap ? at(beforeLast, column - 2) + 1 : Infinity
      current[column] = Math.min(replaced, swapped, at(last, column) + 1, at(current, column - 1) + 1)
    }
    [beforeLast, last] = [last, current]
  }
  return at(last, b.length)
}

const at = (row: number[], column: number): number => row[column] as number
