// A form-action that forbids the way back to the portal is found, and only such a one.
import t from 'tap'
import { report } from '../helpers/program.ts'
import { httpServer } from '../helpers/raw-server.ts'

async function blocked (t: Parameters<typeof httpServer>[0], policy: string, redirectUri: string): Promise<string | undefined> {
  const baseUrl = await httpServer(t, (_request, response) => { response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end('<form>') })
  const { rules } = await report(baseUrl, ['--cookie', 'sid=1', '--redirect-uri', redirectUri])
  return rules.find(({ id }) => id === 'login.form-action')?.got
}

const PORTAL = 'https://portal.example/cb'
const PORT = 'https://portal.example:8443/cb'

await t.test('policies that let the form lead to the portal', async (t) => {
  const allowed: Array<[string, string]> = [
    ['default-src \'none\'', PORTAL], ['form-action *', PORTAL], ['form-action https:', PORTAL], ['form-action https://portal.example', PORTAL],
    ['form-action \'self\' portal.example', PORTAL], ['form-action http://portal.example', PORTAL], ['form-action *.example', PORTAL],
    ['FORM-ACTION https://portal.example/other/path', PORTAL], ['form-action https://portal.example:443', PORTAL], ['form-action http://portal.example:80', PORTAL],
    ['form-action https://portal.example:*', PORT], ['form-action https://portal.example:8443', PORT]
  ]
  for (const [policy, redirectUri] of allowed) t.equal(await blocked(t, policy, redirectUri), undefined, policy)
})

await t.test('policies that do not', async (t) => {
  const forbidden: Array<[string, string]> = [
    ['form-action \'self\'', PORTAL], ['form-action \'none\'', PORTAL], ['form-action', PORTAL], ['form-action http:', PORTAL], ['form-action wss://portal.example', PORTAL],
    ['form-action https://other.example', PORTAL], ['form-action *.portal.example', PORTAL], ['form-action https://portal.example', PORT], ['form-action portal.example', 'ftp://portal.example/cb']
  ]
  for (const [policy, redirectUri] of forbidden) t.equal(await blocked(t, policy, redirectUri), policy, policy)
  t.equal(await blocked(t, 'default-src *; form-action *, form-action \'self\'', PORTAL), 'form-action \'self\'')
})
