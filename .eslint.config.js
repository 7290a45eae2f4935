// Run as `eslint -c .eslint.config.js .`: the top level holds no configuration but dotfiles.
import js from '@eslint/js'
import stylistic from '@stylistic/eslint-plugin'
import typescript from 'typescript-eslint'

/**
 * A layer: files of a folder import what is listed, and nothing else by a relative path. The layers are explained in
 * lib/README.md.
 */
const layer = (folder, allowed, message) => ({
  files: [`lib/${folder}/**/*.ts`],
  rules: {
    '@typescript-eslint/no-restricted-imports': ['error', {
      patterns: [{ regex: `^\\.\\./(?!(?:${allowed})$)`, message }]
    }]
  }
})

/** What the portal's side imports of the plugin beside types. */
const SHARED = '(?:user-information|errors|loopback|options/misspellings|stores/check-store)\\.ts'

/**
 * These speak to the endpoints from outside: of the plugin they know types, the schema of the record, the refusals,
 * which hosts are this machine, and how to find a misspelt name; testing exports `checkStore`. `up` leads from a file
 * of the glob to lib, as a regular expression; `below` are the folders of the portal's side that such a file imports:
 * flow < check < testing, simulator.
 */
const blackBox = (glob, up, below) => ({
  files: [glob],
  rules: {
    '@typescript-eslint/no-restricted-imports': ['error', {
      patterns: [
        {
          regex: `^${up}(?!(?:flow|check|testing|simulator)/|${SHARED})`,
          allowTypeImports: true,
          message: 'A black box: it knows the plugin by its types, its refusals and the schema of the record only.'
        },
        {
          regex: `^${up}(?!${below})(?:flow|check|testing|simulator)/`,
          message: 'Of the portal’s side, lib/flow is imported by lib/check, and both by the two others.'
        }
      ]
    }]
  }
})

const typeImports = {
  selector: ':matches(ImportSpecifier[importKind="type"], ExportSpecifier[exportKind="type"])',
  message: 'Write `import type { … }` on a line of its own: what is left of the other is loaded.'
}

/** In tests: what runs once for each row, and the statements of its body. A test of its own in it has a name. */
const LOOP = ':matches(ForOfStatement, ForStatement, WhileStatement, ' +
  'CallExpression[callee.property.name=/^(?:map|forEach)$/] > ArrowFunctionExpression)'
const IN_LOOP = `:matches(${LOOP} > ExpressionStatement, ${LOOP} > BlockStatement > ExpressionStatement)`
const CALL = `:matches(${IN_LOOP} > CallExpression, ${IN_LOOP} > AwaitExpression > CallExpression)` +
  '[callee.object.name="t"]'

/** Assertions of so many arguments, without a message or with one that is the same for each row. */
const namesNoRow = (names, count) => ({
  selector: `${CALL}[callee.property.name=/^(?:${names})$/]` +
    `:matches([arguments.length=${count}], [arguments.${count}.type="Literal"])`,
  message: 'Name the row in the message: the summary of failures has nothing else that leads to it.'
})

/** The style of standard, by the rules that its authors gave to others. */
const style = [
  stylistic.configs.customize({ braceStyle: '1tbs', commaDangle: 'never', semi: false }),
  {
    rules: {
      '@stylistic/arrow-parens': 'off',
      '@stylistic/indent-binary-ops': 'off',
      '@stylistic/max-len': ['error', { code: 120, ignoreUrls: false }],
      '@stylistic/max-statements-per-line': 'off',
      '@stylistic/member-delimiter-style': 'off',
      '@stylistic/operator-linebreak': ['error', 'after', { overrides: { '?': 'before', ':': 'before' } }],
      '@stylistic/quote-props': ['error', 'as-needed'],
      '@stylistic/quotes': ['error', 'single', { avoidEscape: true }],
      '@stylistic/space-before-function-paren': ['error', 'always']
    }
  }
]

const practices = {
  rules: {
    'array-callback-return': 'error',
    curly: ['error', 'multi-line'],
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-eval': 'error',
    'no-extend-native': 'error',
    'no-lone-blocks': 'error',
    'no-new': 'error',
    'no-return-assign': 'error',
    'no-self-compare': 'error',
    'no-sequences': 'error',
    'no-template-curly-in-string': 'error',
    'no-throw-literal': 'error',
    'no-unmodified-loop-condition': 'error',
    'no-unneeded-ternary': 'error',
    'no-useless-call': 'error',
    'no-useless-computed-key': 'error',
    'no-useless-rename': 'error',
    'no-useless-return': 'error',
    'no-var': 'error',
    'object-shorthand': ['error', 'properties'],
    'one-var': ['error', { initialized: 'never' }],
    'prefer-const': ['error', { destructuring: 'all' }],
    'prefer-promise-reject-errors': 'error',
    'symbol-description': 'error',
    yoda: 'error'
  }
}

/** Finds no type: the compiler does. */
const typed = {
  files: ['**/*.{ts,mts}'],
  plugins: { '@typescript-eslint': typescript.plugin },
  languageOptions: { parser: typescript.parser },
  rules: {
    'no-undef': 'off',
    'no-redeclare': 'off',
    'no-unused-vars': 'off',
    '@typescript-eslint/no-unused-vars': ['error', { args: 'none', ignoreRestSiblings: true }]
  }
}

export default [
  { ignores: ['dist/', '**/node_modules/', '.tap/', 'compiled/', 'examples/dist/', 'coverage/'] },
  js.configs.recommended,
  // Undefined names are found when the few programs in JavaScript run.
  { rules: { 'no-undef': 'off' } },
  ...style,
  practices,
  typed,
  {
    files: ['lib/**/*.ts', 'test/**/*.ts'],
    rules: {
      // The names of parameters and record fields are given by the protocol.
      camelcase: ['error', { allow: ['^[a-z]+(_[a-z]+)+$'] }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      'no-restricted-syntax': ['error', typeImports]
    }
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', typeImports, {
        selector: ':matches(ExpressionStatement, VariableDeclaration)' +
          ':has(AwaitExpression :matches(Identifier[name=/^(?:listen|monitor|once)$/], ' +
          'NewExpression[callee.name="Promise"])) ~ ' +
          'ExpressionStatement > CallExpression[callee.property.name="teardown"]',
        message: 'Register the teardown before what it ends is awaited: it is needed where that fails.'
      }, {
        selector: 'CallExpression[callee.name="ofTest"] > AwaitExpression',
        message: 'A client that does not connect has to end with the test as well.'
      },
      namesNoRow('equal|not|same|notSame|strictSame|strictNotSame|match|notMatch|throws|rejects', 2),
      namesNoRow('ok|notOk|resolves', 1)]
    }
  },
  // Only in lib: a test need not await its subtests, which tap queues.
  {
    files: ['lib/**/*.ts'],
    languageOptions: { parserOptions: { project: './lib/tsconfig.json', tsconfigRootDir: process.cwd() } },
    rules: { '@typescript-eslint/no-floating-promises': 'error' }
  },
  layer('http', '(?:errors|events|typebox)\\.ts',
    'lib/http knows errors and events, and no route, portal, option or store.'),
  layer('stores', '(?:errors|start-errors|time-limit)\\.ts',
    'lib/stores knows the errors, and no code, token, route or option.'),
  layer('portal', '(?:assert|errors|loopback|time-limit)\\.ts', 'lib/portal knows no route, code, store or option.'),
  layer('grants', '(?:errors|user-information)\\.ts|portal/(?:portal|registered-portal)\\.ts|stores/store\\.ts',
    'lib/grants knows the portal, the record and the Store interface, and no route, option or store.'),
  layer('options',
    '(?:assert|events|start-errors|user-information|http/(?:endpoint|error-page))\\.ts|' +
    'portal/.*\\.ts|stores/(?:redis-client|store)\\.ts',
    'lib/options knows what the options name, and no route, code or token.'),
  {
    files: ['lib/grants/authorization-code.ts', 'lib/grants/access-token.ts'],
    rules: {
      'no-restricted-imports': ['error', {
        patterns: [{
          group: ['./authorization-code.ts', './access-token.ts'],
          message: 'The token route joins the two.'
        }]
      }]
    }
  },
  {
    files: ['lib/routes/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', {
        patterns: [
          { regex: '^\\./(?!parts\\.ts)', message: 'Routes never import each other.' },
          {
            regex: '^\\.\\./(?:stores|flow|check|testing|simulator|index|options)',
            message: 'Routes are given what they need; they know no store and not all options.'
          }
        ]
      }]
    }
  },
  {
    files: ['lib/*.ts'],
    ignores: ['lib/index.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', {
        patterns: [{
          regex: '^\\./(?:routes|flow|check|testing|simulator|index)',
          message: 'Only index.ts joins the parts.'
        }]
      }]
    }
  },
  blackBox('lib/flow/*.ts', '\\.\\./', 'nothing'),
  blackBox('lib/check/*.ts', '\\.\\./', 'flow/'),
  blackBox('lib/testing/*.ts', '\\.\\./', '(?:flow|check)/'),
  blackBox('lib/simulator/*.ts', '\\.\\./', '(?:flow|check)/'),
  blackBox('lib/simulator/*/*.ts', '(?:\\.\\./){2}', '(?:flow|check)/'),
  blackBox('lib/simulator/*/*/*.ts', '(?:\\.\\./){3}', '(?:flow|check)/')
]
