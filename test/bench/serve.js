/** The process of one server: starts the one that its argument names, then replies to its parent. */
process.on('disconnect', () => process.exit())

const { module, ...setting } = JSON.parse(process.argv[2])
const { start } = await import(`./servers/${module}.js`)
const app = await start(setting)
await app.listen({ host: '127.0.0.1', port: 0 })

const replies = {
  /** Microseconds of processor time so far, user and system, of all threads. */
  cpu () {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  /** Bytes after a full garbage collection. */
  memory () {
    globalThis.gc()
    return process.memoryUsage()
  }
}

process.on('message', (question) => process.send(replies[question]()))
process.send(app.server.address().port)
