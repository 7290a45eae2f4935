#!/usr/bin/env node
import { run } from './run.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => { process.stdout.write(text) },
  err: (text) => { process.stderr.write(text) },
  columns: process.stdout.columns,
  stop: stop.signal
})
