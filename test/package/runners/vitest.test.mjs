import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { expect, test } from 'vitest'
import { check, signIn } from './sign-in.cjs'

test('alice enters the portal', async () => {
  expect(await signIn(Fastify, partnerSso, portal)).toBe('alice')
})

test('the app keeps the rules of check', async () => {
  expect(await check(Fastify, partnerSso, portal)).toEqual([])
})
