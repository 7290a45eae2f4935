/**
 * The seed of generated tests: the same in each run, so that a run never fails by chance. A soak takes another one:
 * SEED=random, or the number that a failure has printed.
 */
export const seed = process.env.SEED === 'random' ? Date.now() % 2 ** 31 : Number(process.env.SEED ?? 20_261_121)
