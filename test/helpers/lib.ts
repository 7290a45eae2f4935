import { fileURLToPath } from 'node:url'
import '@tapjs/mock/import'

/** The path of a module of lib, to mock what it imports. */
export const lib = (path: string): string =>
  fileURLToPath(new URL(`../../lib/${path.replace(/ts$/, 'js')}`, import.meta.url))
