import type { TimedStore } from '../../lib/stores/store.ts'

/** A store of the last value that was put, returned for any key: only the checks of the grants count. */
export class OneValue implements TimedStore {
  key = ''
  value = ''
  lifetime = 0
  deadlines: number[] = []

  async put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    this.deadlines.push(deadline)
    Object.assign(this, { key, value, lifetime })
    return true
  }

  async take (_key: string, deadline: number): Promise<string | null> {
    this.deadlines.push(deadline)
    return this.value
  }

  async revoke (key: string, lifetime: number, deadline: number): Promise<boolean> {
    this.deadlines.push(deadline)
    Object.assign(this, { key, lifetime })
    return this.value !== ''
  }
}
