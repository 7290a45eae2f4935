// Lets Node run the TypeScript of lib and test. `.taprc` imports it into every test process.
// tap's own TypeScript plugin loads the compiler in each process: a third of the suite's time. Here each version of a
// file is compiled once and kept in .tap/compiled, with the same source maps: coverage is the same to the line.
import { register } from 'node:module'

register('./typescript-hooks.js', import.meta.url)
