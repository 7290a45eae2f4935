/** Milliseconds. */
const [SHORTEST, LONGEST] = [100, 5000]
/** Milliseconds after the end of a pause: then the next one is short again. */
const FORGOTTEN = 60_000

/** A pause between attempts, which becomes longer while they are in vain. */
export class GrowingPause {
  #duration = 0
  /** A time of `performance.now()`. */
  #end = -Infinity

  /** Whether the pause is over. If it is, the next one begins, which is twice as long. */
  isOver (): boolean {
    const now = performance.now()
    if (now < this.#end) return false
    const isForgotten = now - this.#end > FORGOTTEN
    this.#duration = isForgotten ? SHORTEST : Math.min(this.#duration * 2, LONGEST)
    this.#end = now + this.#duration
    return true
  }
}
