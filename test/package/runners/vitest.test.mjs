import { portal } from 'fastify-partner-sso/testing'
import { expect, test } from 'vitest'
import { buildApp, integration } from './app.mjs'

test('ada enters the portal', async () => {
  const app = await buildApp()
  const result = await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'ada' } })
  await app.close()
  expect(result).toMatchObject({ ok: true, record: { external_id: 'ada' } })
})
