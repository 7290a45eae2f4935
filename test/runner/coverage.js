// tap's `coverage-map`: which test files count for coverage. To measure it costs time, and these cover all of lib.
export default (file) => /(?:browser|examples|interleavings|package)-/.test(file) ? null : 'lib/**/*.ts'
