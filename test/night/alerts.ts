// What Prometheus says of its alerts, by its HTTP API.

interface Alert { labels: { alertname: string }, state: 'pending' | 'firing' }

interface Rule { lastEvaluation: string }

interface Firing { first: number, last: number }

interface Series { metric: Record<string, string>, values: Array<[time: number, value: string]> }

export class Alerts {
  readonly #url: string

  constructor (prometheus: string) {
    this.#url = `${prometheus}/api/v1`
  }

  async #get (path: string, query: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(`${this.#url}/${path}?${new URLSearchParams(query)}`)
    const { status, error, data } = await response.json() as { status: string, error?: string, data: unknown }
    if (status !== 'success') throw new Error(`Prometheus: ${error}`)
    return data
  }

  /** The names of the alerts that are firing, or pending too. */
  async active (states = ['firing']): Promise<string[]> {
    const { alerts } = await this.#get('alerts') as { alerts: Alert[] }
    return alerts.filter(({ state }) => states.includes(state)).map(({ labels }) => labels.alertname)
  }

  /** By its name each alert that has been firing since then: at which evaluations first and last, in seconds. */
  async firedSince (time: number): Promise<Map<string, Firing>> {
    const seconds = Math.max(1, Math.ceil(Date.now() / 1000 - time))
    const query = `ALERTS{alertstate="firing"}[${seconds}s]`
    const { result } = await this.#get('query', { query }) as { result: Series[] }
    const fired = new Map<string, Firing>()
    for (const { metric, values } of result) {
      const name = metric.alertname as string
      const known = fired.get(name)
      const times = [known?.first ?? [], known?.last ?? [], values.map(([at]) => at)].flat().filter((at) => at >= time)
      if (times.length > 0) fired.set(name, { first: Math.min(...times), last: Math.max(...times) })
    }
    return fired
  }

  /** The value of a query that has one. */
  async value (query: string): Promise<number> {
    const { result: [series] } = await this.#get('query', { query }) as { result: Array<{ value: [number, string] }> }
    return Number(series?.value[1])
  }

  /** When the rules were evaluated last, in seconds. */
  async evaluated (): Promise<number> {
    const { groups } = await this.#get('rules') as { groups: Array<{ rules: Rule[] }> }
    const rules = groups.flatMap(({ rules }) => rules)
    return Math.min(...rules.map(({ lastEvaluation }) => Date.parse(lastEvaluation) / 1000))
  }
}
