import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import t from 'tap'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
  // A renderer for each site and profile is a third of the time. Cookies and policies do not depend on it.
  '--disable-site-isolation-trials', '--renderer-process-limit=1'
]

function executable (): string {
  const folders = String(process.env.PATH).split(delimiter)
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = paths.find((path) => existsSync(path))
  if (found === undefined) throw new Error(`The browser tests need one of ${NAMES.join(', ')} on PATH.`)
  return found
}

let launched: Promise<Browser> | undefined

/** The browser that is installed here, with an empty profile: one for all scenes of this process. */
export async function browser (): Promise<Browser> {
  if (launched === undefined) {
    launched = chromium.launch({ executablePath: executable(), args: FLAGS })
    t.teardown(async () => await (await launched)?.close())
  }
  return await launched
}
