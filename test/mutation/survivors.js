// Mutants that no test can tell from the original, each with the reason.
export const survivors = []
