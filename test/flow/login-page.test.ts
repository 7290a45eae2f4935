// loginPage as an async function, which the types refuse and JavaScript does not.
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('its rejection does not end the process', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => { unhandled.push(reason) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const loginPage = async (): Promise<string> => { throw new Error('The login page is unknown') }
  const { url, events } = await startHost(t, { loginPage: loginPage as never })
  t.equal((await wire(url).authorize({}, null)).redirect.get('error'), 'server_error')
  t.match(events, [{ type: 'sign_in_refused', reason: 'login_page_failed' }])
  // Rejections without a handler are reported at the end of the turn in which they happen.
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(unhandled, [])
})
