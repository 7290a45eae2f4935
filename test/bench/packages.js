import { createRequire } from 'node:module'

/** Loads a package of the benchmark, which has a lockfile of its own. */
export const require = createRequire(new URL('../../.ci/bench/package.json', import.meta.url))
