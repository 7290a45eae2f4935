// Compiles hosts, and checks them and our declarations: node compile.cjs <compiler> <tsconfig> <folder of the output>
// `tsc` also checks the declarations of all packages, which takes ten times as long.
const [name, config, outDir] = process.argv.slice(2)
const ts = require(name)

const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(config, { outDir }, ts.sys)
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
