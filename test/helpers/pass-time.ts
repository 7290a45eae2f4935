interface Teardown { teardown (stop: () => unknown): void }

/**
 * Sets the clock of this process, `performance.now()`, ahead by as many seconds until the test is over. What expires is
 * expired at once; no timer fires for it.
 */
export function passTime (t: Teardown, seconds: number): void {
  const before = performance.now
  performance.now = () => before.call(performance) + seconds * 1000
  t.teardown(() => { performance.now = before })
}
