// Compiles the host of node10 with the oldest compiler, and checks it and our declarations. `tsc` would also check the
// declarations of all packages, which takes ten times as long.
const ts = require('typescript-5.4')

const { options, fileNames } = ts.getParsedCommandLineOfConfigFile('node10/tsconfig.json', {}, ts.sys)
const program = ts.createProgram(fileNames, options)
const checked = program.getSourceFiles()
  .filter(({ fileName }) => !/\/node_modules\/(?!fastify-partner-sso\/)/.test(fileName))
const diagnostics = [
  ...program.getOptionsDiagnostics(),
  ...program.getSyntacticDiagnostics(),
  ...checked.flatMap((file) => program.getSemanticDiagnostics(file)),
  // Without a file, it would check all others first.
  ...fileNames.flatMap((name) => program.emit(program.getSourceFile(name)).diagnostics)
]
process.stdout.write(ts.formatDiagnostics(diagnostics, {
  getCanonicalFileName: (path) => path, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n'
}))
