import { readFileSync } from 'node:fs'

/** Begins to measure. Returns a function that says which part of the processors' time was stolen since then. */
export function stolenTime () {
  const before = processorTime()
  return () => {
    const { all, stolen } = processorTime()
    return (stolen - before.stolen) / (all - before.all || 1)
  }
}

/** By Linux: the columns of the first line are user, nice, system, idle, iowait, irq, softirq, steal, guest. */
function processorTime () {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n')
  const columns = line.split(/\s+/).slice(1, 9).map(Number)
  return { all: columns.reduce((a, b) => a + b), stolen: columns[7] }
}
