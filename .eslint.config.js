// Run as `eslint -c .eslint.config.js .`: the top level holds no configuration but dotfiles.
import neostandard from 'neostandard'

// The floors of the house: a file imports lower floors only (see the rules below).
const floor = {
  0: ['errors', 'events', 'sealing', 'pkce', 'store', 'grant', 'parameters', 'deadline', 'authorization-header', 'logged-request', 'error-page', 'replies', 'readiness'],
  1: ['authorization-code', 'access-token', 'portal', 'user-information', 'stores/*'],
  2: ['options', 'open-store'],
  3: ['routes/*'],
  4: ['index']
}
const files = (names) => names.map((name) => `lib/${name}.ts`)
const imports = (names) => names.flatMap((name) => [`./${name}.ts`, `../${name}.ts`])

/** Forbids the files of one floor to import from the named rooms. */
const keep = (names, forbidden, message) => ({
  files: files(names),
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: forbidden, message }] }] }
})

export default [
  ...neostandard({ ts: true, ignores: ['dist/', 'node_modules/', '.tap/', 'examples/dist/', 'coverage/', '.stryker-tmp/'] }),
  {
    files: ['lib/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: process.cwd() } },
    rules: {
      // Names of the wire are not ours to choose.
      camelcase: ['error', { allow: ['^[a-z]+(_[a-z]+)+$'] }],
      // The compiler finds real ones; a type and a schema may share a name.
      '@typescript-eslint/no-redeclare': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }]
    }
  },
  // Tests run their subtests one after the other by tap's own queue.
  { files: ['lib/**/*.ts'], rules: { '@typescript-eslint/no-floating-promises': 'error' } },
  keep(floor[0], imports([...floor[0].filter((name) => name !== 'errors'), ...floor[1], ...floor[2], ...floor[3], 'index', 'testing/*', 'simulator/*']), 'Floor 0 imports nothing of the house but errors.'),
  keep(floor[1], imports([...floor[2], ...floor[3], 'authorization-code', 'access-token', 'index', 'testing/*', 'simulator/*']), 'Floor 1 imports floor 0; codes and tokens do not know each other.'),
  keep(floor[2], imports([...floor[3], 'index', 'testing/*', 'simulator/*']), 'Floor 2 imports floors 0 and 1.'),
  keep(floor[3], ['./*.ts', ...imports(['stores/*', 'index', 'testing/*', 'simulator/*'])], 'Routes never import each other, the stores or upper floors.'),
  {
    files: ['lib/testing/**/*.ts', 'lib/simulator/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', {
        patterns: [{ group: imports([...floor[0], ...floor[1], ...floor[2], ...floor[3], 'index']), allowTypeImports: true, message: 'A black box: it speaks to the endpoints from outside only.' }]
      }]
    }
  }
]
