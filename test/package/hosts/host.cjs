// A CommonJS host: `require()` gives the plugin itself.
const Fastify = require('fastify')
const partnerSso = require('fastify-partner-sso')
const { portal } = require('fastify-partner-sso/testing')
const { signIn } = require('./sign-in.cjs')

if (typeof partnerSso !== 'function') throw new Error('require() gives no function')
for (const name of ['default', 'partnerSso']) {
  if (partnerSso[name] !== partnerSso) throw new Error(`The export ${name} is missing`)
}
signIn(Fastify, partnerSso, portal).then(console.log)
