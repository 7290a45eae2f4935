/** The process of a server: starts the one that its argument names, then replies to its parent. */
process.on('disconnect', () => process.exit())

const { module, ...setting } = JSON.parse(process.argv[2])
const { start } = await import(`./servers/${module}.js`)
const app = await start(setting)
await app.listen({ host: '127.0.0.1', port: 0 })

/** Microseconds of processor time so far, user and system, of all threads. */
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.send(app.server.address().port)
