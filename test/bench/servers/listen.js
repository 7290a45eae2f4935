/** @returns {Promise<number>} the port */
export async function listen (app) {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app.server.address().port
}
