// `npm start`: two addresses and a sign-in between them; a port that cannot be used.
import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { Browser } from '../helpers/browser.ts'
import { listen } from '../helpers/listen.ts'
import { freePort } from '../helpers/ports.ts'
import { started } from '../helpers/started.ts'
import type { Started } from '../helpers/started.ts'

const start = (t: Test, env: Record<string, string>): Started =>
  started(t, [process.execPath, 'examples/dist/start.js'], env)

t.test('two addresses on two sites, and a sign-in between them', async (t) => {
  const [port, portalPort] = [await freePort(), await freePort()]
  const settings = { PORT: String(port), PORTAL_PORT: String(portalPort), PORTAL_TIMEOUT: '60' }
  const { child, output, printed } = start(t, settings)
  await printed(/Press Ctrl-C/)
  t.notMatch(output.out, 'WARN', 'the first minute has no warning')
  t.match(output.out, `
The partner's application  http://localhost:${port}
The portal                 http://127.0.0.1:${portalPort}

Open the portal, press Sign in, and log in to the application as Ada. Press Ctrl-C to stop.
`)
  const browser = new Browser()
  const login = await browser.open(`http://127.0.0.1:${portalPort}/external-oauth/local`)
  t.match((await browser.submit(login.url, { user: 'u-1' })).text, 'Ada Okafor is signed in')
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'close'), [0, null])
  t.match(output.out, /^\[\d\d:\d\d:\d\d\] INFO: POST \/oauth\/token$/m, 'the log is for people')
  t.notMatch(output.out, 'code=', 'the log has no query')
})

t.test('a port in use: one line with the variable to set, and exit code 1', async (t) => {
  const port = await listen(t, createServer(), 'localhost')
  const { child, output } = start(t, { PORT: String(await freePort()), PORTAL_PORT: String(port) })
  t.strictSame(await once(child, 'close'), [1, null])
  const err = `Port ${port} is in use. Choose another one: PORTAL_PORT=${port + 100} npm start\n`
  t.strictSame(output, { out: '', err })
})
