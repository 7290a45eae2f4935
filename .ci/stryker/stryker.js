// What the operators of StrykerJS change, and which tests must notice: those in process that take a second or two. In a
// worktree of a commit, in some hours: npm run operators -- --mutate 'lib/grants/*.ts'
import { execSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'

/** Configurations of the contract suite. Together they have most values of the dimensions. */
process.env.CONFIGURATION = '2,3'

export const strykerPlugins = [{
  kind: 'Ignore',
  name: 'documents',
  value: { shouldIgnore: ({ node }) => node.id?.name === 'documentation' ? 'OpenAPI document' : undefined }
}]

export default {
  mutate: ['lib/{routes,grants,stores,http}/*.ts', '!lib/http/documentation.ts', 'lib/portal*.ts'],
  plugins: ['@stryker-mutator/*', './.ci/stryker/stryker.js'],
  ignorers: ['documents'],
  testRunner: 'tap',
  tap: {
    testFiles: [
      // Named in full, it is tried first. It notices most.
      'compiled/test/contract/contract.alone.test.js',
      'compiled/test/{unit,flow}/*.test.js',
      'compiled/test/attacks/!(eavesdropping|*.alone).test.js',
      'compiled/test/hosts/{handler-timeout,instead,proxy,swagger}.test.js'
    ],
    // A test that is stopped leaves its Redis running.
    forceBail: false
  },
  tempDirName: 'coverage/stryker',
  cleanTempDir: 'always',
  ignorePatterns: ['/dist', '/compiled', '/coverage', '/examples/dist', '/.tap'],
  buildCommand: 'node .ci/stryker/stryker.js',
  symlinkNodeModules: false,
  disableTypeChecks: false,
  // To rewrite it, StrykerJS would load a TypeScript of its own.
  tsconfigFile: 'none',
  concurrency: 1,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { break: 80 }
}

// The build, in StrykerJS's copy of this folder. StrykerJS links the packages only after it.
if (process.argv[1] === import.meta.filename) {
  symlinkSync('../../../node_modules', 'node_modules')
  execSync('npm run -s compile', { stdio: 'inherit' })
}
