import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portal } from 'fastify-partner-sso/testing'
import { buildApp, integration } from './app.mjs'

test('ada enters the portal', async () => {
  const app = await buildApp()
  const result = await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'ada' } })
  await app.close()
  assert.equal(result.ok && result.record.external_id, 'ada')
})
