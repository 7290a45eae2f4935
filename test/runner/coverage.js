// tap's `coverage-map`: the test files that count for coverage. To measure it costs time, and these cover all of lib.
const MEASURED = [
  'test/faults/', 'test/flow/', 'test/hosts/', 'test/simulator/', 'test/stores/', 'test/testing/', 'test/unit/',
  'test/attacks/authorization-header', 'test/attacks/huge-and-slow'
]

export default (file) => MEASURED.some((start) => file.startsWith(start)) ? 'lib/**/*.ts' : null
