// tap's `coverage-map`: the test files that count for coverage. To measure it costs time, and these cover all of lib.
const FOLDERS = 'faults|flow|hosts|simulator|stores|testing|unit'
const MEASURED = new RegExp(`^test/(?:${FOLDERS})/|^\\.tap/together/\\d+-(?:(?:${FOLDERS})-|attacks-\\d)`)

export default (file) => MEASURED.test(file) ? 'lib/**/*.ts' : null
