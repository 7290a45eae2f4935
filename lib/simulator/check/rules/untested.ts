/** Thrown where a rule does not apply or cannot be tried. */
export class Untested extends Error {}

/** Thrown where the service did not answer in a way that a rule can judge: the check is not complete. */
export class Inconclusive extends Untested {}

/** Ends the whole check: without what the sentence names no rule can be tried. */
export class Stop extends Error {}
