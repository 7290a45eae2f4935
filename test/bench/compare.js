import { measureBytes, measureRound } from './round.js'
import { baseline } from './servers.js'
import { spread } from './statistics.js'
import { figure, figures, table } from './table.js'

/**
 * All servers, one after the other, in interleaved rounds, each round a fresh process.
 *
 * @returns {Promise<string>} the result as a Markdown table
 */
export async function compare ({ servers, redis, rounds, flows, warmUp, concurrency, say }) {
  const measured = new Map(servers.map((server) => [server, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const server of servers) {
      const result = await measureRound({ server, redis, concurrency, flows, warmUp, speed: true })
      measured.get(server).push(result)
      say(`round ${round}  ${server.name.padEnd(24)} ${figure(result.cpuPerFlow).padStart(6)} µs CPU per flow`)
    }
  }
  const rows = []
  for (const server of servers) {
    const bytes = await measureBytes({ server, redis, concurrency, count: server.redis ? 1000 : 20_000 })
    rows.push({ server, bytes, ...summary(measured.get(server)) })
  }
  return report(rows)
}

function summary (results) {
  const over = (name) => spread(results.map((result) => result[name]))
  return {
    cpuPerFlow: over('cpuPerFlow'),
    cpuAtOnce: over('cpuAtOnce'),
    busy: over('busy'),
    flowsPerSecond: over('flowsPerSecond'),
    p50: over('p50'),
    p99: over('p99'),
    importTime: over('importTime'),
    startTime: over('startTime'),
    commands: results[0].commands
  }
}

function report (rows) {
  const ratios = [baseline, 'ours-url'].filter((name) => rows.some(({ server }) => server.name === name))
  const relative = (row, cost) => ratios.map((name) => {
    const reference = rows.find(({ server }) => server.name === name)
    return (row[cost].median / reference[cost].median).toFixed(2)
  })
  const times = ratios.map((name) => `× ${name}`)
  const cost = table(
    ['Server', 'CPU µs per flow', ...times, 'portal waits on sockets', ...times],
    rows.map((row) => [
      row.server.title,
      ...['cpuPerFlow', 'cpuAtOnce'].flatMap((cost) => [figures(row[cost]), ...relative(row, cost)])
    ])
  )
  const speed = table(
    ['Server', 'flows/s', 'core busy', 'p50 ms', 'p99 ms'],
    rows.map((row) => [
      row.server.title,
      figure(row.flowsPerSecond.median),
      `${Math.round(row.busy.median * 100)} %`,
      figure(row.p50.median),
      figure(row.p99.median)
    ])
  )
  const keep = table(
    ['Server', 'Redis commands per flow', 'bytes: live code', 'live token', 'left', 'import ms', 'start ms'],
    rows.map((row) => [
      row.server.title,
      Object.entries(row.commands)
        .map(([name, calls]) => `${name} ${figure(calls).replace(/\.0+$/, '')}`)
        .join(', ') || '–',
      ...[row.bytes.code, row.bytes.token, row.bytes.left].map((bytes) => String(Math.max(0, Math.round(bytes)))),
      figure(row.importTime.median),
      figure(row.startTime.median)
    ])
  )
  return `${cost}\n\n${speed}\n\n${keep}`
}
