import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { check, signIn } from './sign-in.cjs'

test('alice enters the portal', async () => {
  assert.equal(await signIn(Fastify, partnerSso, portal), 'alice')
})

test('the app keeps the rules of check', async () => {
  assert.deepEqual(await check(Fastify, partnerSso, portal), [])
})
