// An attacker gets a browser to send a request id of his choice (`requestIdHeader`), to have his text or his markup on
// the error page, which people trust.
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import type { OnEvent } from '../../lib/index.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const ASCII = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('')

/** Ids, and what the page says of them after its description. */
const shown: Record<string, string> = {
  'a1b2-c3d4': ' Request ID: a1b2-c3d4',
  ['x'.repeat(100)]: ` Request ID: ${'x'.repeat(100)}`,
  [ASCII]: ` Request ID: ${ASCII.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)}`,
  '<script>alert(1)</script>': ' Request ID: &#60;script&#62;alert(1)&#60;/script&#62;',
  '</small><a/href=//evil.example>': ' Request ID: &#60;/small&#62;&#60;a/href=//evil.example&#62;',
  'Call 0900 123 and say your password': '',
  'a\tb': '',
  ['x'.repeat(101)]: '',
  ['x'.repeat(5000)]: '',
  'caf\u00e9!': '',
  '\u00a0': ''
}

async function supportLine (
  server: FastifyServerOptions, headers: Record<string, string>, onEvent?: OnEvent
): Promise<string | undefined> {
  const { url } = await startHost(t, { onEvent }, { server })
  const page = await wire(url).authorize({ client_id: 'none' }, 'ada', { accept: 'text/html', ...headers })
  return /<p><small>For support: The client_id is not registered\.([^]*)<\/small><\/p>\n<\/main>/.exec(page.text)?.[1]
}

for (const [id, expected] of Object.entries(shown)) {
  t.test(`an id of the caller: ${id.slice(0, 40)}`, async (t) => {
    const header = { 'x-request-id': id }
    t.equal(await supportLine({ requestIdHeader: 'x-request-id' }, header), expected)
    t.match(await supportLine({}, header), /^ Request ID: req-\w+$/, 'by default the id is of Fastify')
  })
}

t.test('an id of the host: that of the log line and the event, where it has no space', async (t) => {
  for (const [id, text] of [
    ['id-of-the-host', 'id-of-the-host'], [7, '7'], [0, '0'], ['a\nb', undefined], ['a\n', undefined], ['', undefined]
  ] as const) {
    const logged: unknown[] = []
    const write = (line: string): void => {
      const { reason, reqId } = JSON.parse(line) as Record<string, unknown>
      if (reason === 'client_id_unknown') logged.push(reqId)
    }
    const events: unknown[] = []
    const line = await supportLine({ logger: { stream: { write } }, genReqId: () => id as string }, {},
      ({ requestId }) => events.push(requestId))
    t.equal(line, text === undefined ? '' : ` Request ID: ${text}`, String(id))
    t.strictSame([logged, events], [[id], [String(id)]], String(id))
  }
})
