// Run in two ways: with babel-jest, which transforms ES modules (IN_PROCESS=1), and as ES modules over a port.
import { expect, test } from '@jest/globals'
import { portal } from 'fastify-partner-sso/testing'
import { buildApp, integration } from './app.mjs'

test('ada enters the portal', async () => {
  const app = await buildApp()
  const way = process.env.IN_PROCESS === '1' ? { app } : { baseUrl: await app.listen({ port: 0, host: '127.0.0.1' }) }
  const result = await portal({ ...way, ...integration }).signIn({ headers: { 'x-user': 'ada' } })
  await app.close()
  expect(result).toMatchObject({ ok: true, record: { external_id: 'ada' } })
})
