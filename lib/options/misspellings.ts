/** The known name that a name is a misspelling of: by one letter that is missing, added, replaced or swapped. */
export function similarName (name: string, known: readonly string[]): string | undefined {
  const given = shortened(name)
  return known.find((candidate) => shortened(candidate).some((text) => given.includes(text)))
}

/**
 * The name, and what is left of it without each of its letters: "redsi" and "redis" have "redi" in common. Ignores case
 * and separators: `code_lifetime` and `codeLifeTime` mean `codeLifetime`.
 */
function shortened (name: string): string[] {
  const plain = name.toLowerCase().replace(/[_-]/g, '')
  const others = Array.from(plain, (_, index) => plain.slice(0, index) + plain.slice(index + 1))
  return [plain, ...others]
}
