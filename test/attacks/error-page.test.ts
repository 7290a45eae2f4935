// An attacker gets a browser to send a request id of his choice (`requestIdHeader`), to have his text or his markup on
// the error page, which people trust.
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
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
  server: FastifyServerOptions, headers: Record<string, string>
): Promise<string | undefined> {
  const { url } = await startHost(t, {}, { server })
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

t.test('an id of the host that is no text, or has a line break, is not shown', async (t) => {
  for (const id of [7, {}, null, Symbol('id'), 'a\nb', 'a\n', '', ['x']]) {
    t.equal(await supportLine({ genReqId: () => id as string }, {}), '', String(id))
  }
})

t.test('the id on the page is that of the log line', async (t) => {
  const ids: unknown[] = []
  const write = (line: string): void => {
    const { reason, reqId } = JSON.parse(line) as Record<string, unknown>
    if (reason === 'client_id_unknown') ids.push(reqId)
  }
  const server = { logger: { stream: { write } }, genReqId: () => 'id-of-the-host' }
  t.equal(await supportLine(server, {}), ' Request ID: id-of-the-host')
  t.strictSame(ids, ['id-of-the-host'])
})
