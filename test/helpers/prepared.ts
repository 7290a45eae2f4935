import t from 'tap'

/**
 * What the tests of a file need, where it takes a while. To be used in place of an `await` at the top of a file: tap
 * ends when it has nothing to do, and other files of the process may have no test left.
 */
export function prepared<T> (prepare: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    t.before(async () => await prepare().then(resolve, (error: unknown) => {
      reject(error)
      throw error
    }))
  })
}
