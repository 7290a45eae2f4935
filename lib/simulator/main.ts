#!/usr/bin/env node
import { run } from './run.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of a pipe, such as `head`, may leave before the end.
    if (code !== 'EPIPE') process.stderr.write(`${message}\n`)
    process.exit(2)
  })
}

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY ?? false,
  stop: stop.signal
})
