// ES modules, over a port: on Node 20 and 22 Jest cannot require() what `app.inject()` uses.
import { expect, test } from '@jest/globals'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { check, signIn } from './sign-in.cjs'

test('alice enters the portal', async () => {
  expect(await signIn(Fastify, partnerSso, portal, false)).toBe('alice')
})

test('the app keeps the rules of check', async () => {
  expect(await check(Fastify, partnerSso, portal, false)).toEqual([])
}, 30_000)
