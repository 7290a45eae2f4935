// examples/alerts.yml in less time: the same rules, with every range and every `for` shortened by one factor.

/** How many times shorter a night is here than in production. */
export const FACTOR = 30

const SECONDS = { s: 1, m: 60, h: 3600 }

/** `5m`, shortened: `10000ms`. */
export function shortened (duration: string): string {
  const [, count, unit] = /^(\d+)([smh])$/.exec(duration) ?? []
  if (unit === undefined) throw new Error(`No duration: ${duration}`)
  return `${Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1000 / FACTOR}ms`
}

/** The rules, with each range (`[5m]`, `[1h:5m]`) and each `for` shortened. */
export function shortenedRules (rules: string): string {
  return rules
    .replaceAll(/\[(\w+)(?::(\w+))?\]/g, (_range, length: string, step?: string) =>
      `[${[length, step ?? []].flat().map(shortened).join(':')}]`)
    .replaceAll(/^( +for: )(\w+)$/gm, (_line, key: string, length: string) => key + shortened(length))
}

/** Seconds here as a time in production: `90` is `45.0 min`. */
export function atFullLength (seconds: number): string {
  const full = Math.max(0, seconds * FACTOR)
  return full < 90 ? `${Math.round(full)} s` : `${(full / 60).toFixed(1)} min`
}
