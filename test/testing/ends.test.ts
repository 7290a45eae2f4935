// What a service does instead of a response, and what is left of a sign-in when it has ended: nothing that waits.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { rawServer } from '../helpers/listen.ts'
import { sessionOf, SETTINGS, startApp } from '../app.ts'

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

t.test('a service that leaves HTTP: the sign-in ends, and says so', async (t) => {
  const baseUrl = await rawServer(t, (socket) => { socket.write(SWITCHING) })
  t.match(await portal({ baseUrl, ...SETTINGS }).signIn(), {
    ok: false,
    step: 4,
    error: 'not_http',
    got: /leaves HTTP for another protocol \(101 Switching Protocols\)/
  })
})

t.test('a process can end right after its last sign-in: no timer is left, and no connection', async (t) => {
  const { baseUrl } = await startApp(t)
  const program = `
    import { setImmediate } from 'node:timers/promises'
    import { portal } from ${JSON.stringify(new URL('../../lib/testing/index.js', import.meta.url).href)}
    const double = portal(${JSON.stringify({ ...SETTINGS, baseUrl })})
    const { ok } = await double.signIn({ cookies: ${JSON.stringify(sessionOf('ada'))} })
    const failed = await portal({ ...${JSON.stringify(SETTINGS)}, baseUrl: 'http://127.0.0.1:1' }).signIn()
    // A socket is closed in the turns that follow.
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    const left = process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|TLS/.test(name))
    process.stdout.write(JSON.stringify({ ok, failed: failed.error, left }))
    process.exit()`
  const { NODE_OPTIONS, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })
  t.strictSame(JSON.parse(stdout), { ok: true, failed: 'unreachable', left: [] })
})
