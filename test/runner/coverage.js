// tap's `coverage-map`: the test files that count for coverage. To measure it costs time, and these cover all of lib.
const MEASURED = new RegExp('^(?:test|.tap/together)/(?:faults|flow|hosts|simulator|stores|testing|unit)|' +
  '^.tap/together/attacks')

export default (file) => MEASURED.test(file) ? 'lib/**/*.ts' : null
