// Does the time that client authentication takes show whether the client is known, or how much of a secret is right?
// Not part of the tests: a figure, not a verdict. `npm run build && node test/attacks/timing.js [requests of a kind]`
//
// The kinds take turns in random order, on one connection to a server in a process of its own. Each is compared with
// the first by Welch's t-test, on the times below the 90th percentile of all: what is above is the machine's, not ours.
// All of it is measured with each way to register a portal.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import Fastify from 'fastify'
import partnerSso from '../../dist/index.js'
import { Portals } from '../../dist/portal/portals.js'

const ID = 'partner-123'
const SECRET = 'a-secret-of-forty-characters-0123456789a'
const portal = {
  loginUrl: 'https://portal.example/external-oauth/3f9c',
  clientId: ID,
  clientSecret: SECRET,
  redirectUri: 'https://portal.example/oauth/callback'
}
const rotated = { ...portal, clientSecret: ['another-secret-that-is-being-rotated-in', SECRET] }

/** The ways to register a portal. */
const registrations = {
  'one secret': portal,
  'two secrets': rotated,
  'a function, one secret': async (id) => id === ID ? portal : null,
  'a function, two secrets': async (id) => id === ID ? rotated : null
}

/** The first one is what the others are compared with. All are of the same length. */
const kinds = {
  'unknown client': ['partner-999', 'b'.repeat(SECRET.length)],
  'unknown client again (how far chance goes)': ['partner-998', 'c'.repeat(SECRET.length)],
  'wrong secret': [ID, 'b'.repeat(SECRET.length)],
  'wrong in the last character': [ID, SECRET.slice(0, -1) + 'z'],
  'wrong in the first character': [ID, 'z' + SECRET.slice(1)]
}

if (process.argv[2] === 'serve') await serve(registrations[process.argv[3]])
else {
  const number = Number(process.argv[2] ?? 20_000)
  for (const name of Object.keys(registrations)) {
    await measureInside(name, 5 * number)
    await measureOutside(name, number)
  }
}

async function serve (portal) {
  const app = Fastify({
    logger: { level: 'info', stream: new Writable({ write: (_chunk, _encoding, done) => done() }) }
  })
  await app.register(partnerSso, { portal, currentUser: () => null, portalEligibility: () => null })
  console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
}

/** The authentication alone, in this process. */
async function measureInside (name, number) {
  const registered = registrations[name]
  const portal = typeof registered === 'function' ? registered : [registered]
  const portals = new Portals(portal, 1000, () => {}, { error () {}, warn () {} })
  await compare(`${name}, authentication alone`, number, async ([id, secret]) => {
    const before = process.hrtime.bigint()
    try {
      await portals.authenticate({ clientId: [id], clientSecret: [secret] })
    } catch {}
    return Number(process.hrtime.bigint() - before)
  })
}

/** The token endpoint, log included, as somebody on the same machine sees it. */
async function measureOutside (name, number) {
  const args = [import.meta.filename, 'serve', name]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(server.stdout, 'data')
  const url = `${String(line).trim()}/oauth/token`
  await compare(`${name}, over a socket`, number, async ([id, secret]) => {
    const body = `grant_type=authorization_code&code=x&redirect_uri=y&client_id=${id}&client_secret=${secret}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const before = process.hrtime.bigint()
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.text()
    const time = Number(process.hrtime.bigint() - before)
    if (response.status !== 401) throw new Error(String(response.status))
    return time
  })
  server.kill()
}

async function compare (title, number, measure) {
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]))
  const names = Object.keys(kinds)
  const warmUp = number / 10
  for (let index = -warmUp; index < number; index++) {
    for (const kind of shuffled(names)) {
      const time = await measure(kinds[kind])
      if (index >= 0) times[kind].push(time)
    }
  }
  const limit = Object.values(times).flat().sort((a, b) => a - b)[Math.floor(0.9 * number * names.length)]
  console.log(`\n${title}, ${number} of each kind, those below ${(limit / 1000).toFixed(1)} µs`)
  const [first, ...others] = names.map((kind) => ({ kind, ...moments(times[kind].filter((time) => time < limit)) }))
  console.log(
    `  ${first.kind}: mean ${first.mean.toFixed(0)} ns, standard deviation ${Math.sqrt(first.variance).toFixed(0)} ns`
  )
  for (const { kind, mean, variance, count } of others) {
    const t = (mean - first.mean) / Math.sqrt(variance / count + first.variance / first.count)
    console.log(`  ${kind}: ${(mean - first.mean).toFixed(0)} ns more, t = ${t.toFixed(1)}`)
  }
}

function shuffled (list) {
  return list
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

function moments (values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    mean,
    count: values.length,
    variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  }
}
