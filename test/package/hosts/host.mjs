// An ES module host.
import Fastify from 'fastify'
import partnerSso, { partnerSso as named, UserInformation } from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { createRequire } from 'node:module'
import { signIn } from './sign-in.cjs'

if (named !== partnerSso || UserInformation.anyOf.length !== 2) throw new Error('A named export is missing')
console.log(await signIn(Fastify, partnerSso, portal))
const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('ioredis'))
if (loaded.length > 0) throw new Error('ioredis is loaded though no Redis is used')
