/** Thrown where a rule cannot be tried. */
export class Untested extends Error {}
