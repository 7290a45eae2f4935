// Run in two ways: with babel-jest, which transforms ES modules (IN_PROCESS=1), and as ES modules over a port.
import { expect, test } from '@jest/globals'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { check, signIn } from './sign-in.cjs'

test('alice enters the portal', async () => {
  expect(await signIn(Fastify, partnerSso, portal, process.env.IN_PROCESS === '1')).toBe('alice')
})

test('the app keeps the rules of check', async () => {
  expect(await check(Fastify, partnerSso, portal, process.env.IN_PROCESS === '1')).toEqual([])
}, 30_000)
