// The examples of an Express app and a NestJS app, started as their first lines say, with a portal beside them.
// `npm test` compiles them before.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { users } from '../../examples/users.ts'
import { portal } from '../../lib/testing/index.ts'
import { freePort } from '../helpers/redis.ts'

const clientSecret = 'a secret of the portal'

/** Starts an example, and waits for the lines that say where the app and the portal are. */
async function start (t: Test, file: string): Promise<{ baseUrl: string, portalUrl: string }> {
  const { NODE_OPTIONS, REDIS_URL, ...env } = process.env
  const ports = { PORT: String(await freePort()), PORTAL_PORT: String(await freePort()) }
  const settings = { ...ports, PORTAL_CLIENT_SECRET: clientSecret }
  const child = spawn(process.execPath, [file], { env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    if (child.exitCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await exited
  })
  let baseUrl = ''
  for await (const line of createInterface({ input: child.stdout })) {
    baseUrl = /^The app: +(\S+)/.exec(line)?.[1] ?? baseUrl
    const [, portalUrl] = /^The portal: +(\S+)/.exec(line) ?? []
    if (portalUrl === undefined) continue
    child.stdout.resume()
    return { baseUrl, portalUrl }
  }
  throw new Error(`${file} ended without listening`)
}

/** Logs in as a browser does: the cookie of the session. */
async function login (t: Test, baseUrl: string, user: string, returnTo: string): Promise<string> {
  const body = new URLSearchParams({ user, return_to: returnTo })
  const { status, headers } = await fetch(`${baseUrl}/login`, { method: 'POST', body, redirect: 'manual' })
  t.equal(status, 303)
  t.equal(headers.get('location'), returnTo.startsWith('/') ? returnTo : '/', 'return_to stays on this site')
  const [cookie = ''] = headers.getSetCookie()
  t.match(cookie, /^acme_session=.*HttpOnly; SameSite=Lax$/)
  return cookie.split(';')[0] as string
}

t.test('the examples', async (t) => {
  for (const file of ['express.js', 'nest/main.js']) {
    await t.test(file, async (t) => {
      const { baseUrl, portalUrl } = await start(t, `examples/dist/${file}`)
      const integration = { clientId: 'acme-payments', clientSecret, redirectUri: `${portalUrl}/oauth/callback` }
      const double = portal({ baseUrl, ...integration })
      for (const { id, email, role } of users) {
        const cookie = await login(t, baseUrl, id, id === 'u-1' ? 'https://evil.example/' : '/oauth/authorize')
        const result = await double.signIn({ headers: { cookie } })
        if (role === 'guest') t.match(result, { ok: false }, 'a guest may not enter')
        else t.match(result, { ok: true, record: { external_id: id, email } })
        const home = await fetch(baseUrl, { headers: { cookie } })
        t.match(await home.text(), `href="${portalUrl}/external-oauth/demo"`, 'the home page links to the portal')
      }
      t.match(await double.signIn(), { ok: false }, 'nobody enters without a login')
      const logged = await fetch(`${baseUrl}/login`, { method: 'POST', body: new URLSearchParams({ user: 'u-99' }) })
      t.equal(logged.status, 400)
      if (file === 'nest/main.js') await hasGuardAndReadiness(t, baseUrl)
    })
  }
})

async function hasGuardAndReadiness (t: Test, baseUrl: string): Promise<void> {
  t.strictSame(await (await fetch(`${baseUrl}/ready`)).json(), { ready: true })
  t.equal((await fetch(`${baseUrl}/account`)).status, 403, 'the guard is on controllers')
  const cookie = await login(t, baseUrl, 'u-2', '/')
  t.match(await (await fetch(`${baseUrl}/account`, { headers: { cookie } })).json(), { id: 'u-2' })
}
