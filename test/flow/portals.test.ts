// Several portals on one registration: each answer, hook and event is about the one that asked.
import t from 'tap'
import { type PortalInformation } from '../../lib/index.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const live = { ...PORTAL, level: 'partner' as const }
const test = {
  loginUrl: 'https://test.portal.example/external-oauth/71aa',
  clientId: 'partner-test',
  clientSecret: ['new secret', 'old secret'],
  redirectUri: 'https://test.portal.example/oauth/callback',
  level: 'client' as const
}
const clientRecord = (id: string) => ({
  ...recordOf(id), type: 'client' as const, control_role: 'Client Read Only' as const
}) as never

t.test('whichever stands first', async (t) => {
  for (const portals of [[live, test], [test, live]]) {
    const told: PortalInformation[] = []
    const { url, events } = await startHost(t, {
      portal: portals,
      portalEligibility: ({ id }, { portal }) => {
        told.push(portal)
        return portal.level === 'client' ? clientRecord(id) : recordOf(id)
      }
    })
    for (const { clientSecret, ...information } of [live, test]) {
      const portal = wire(url, { ...information, clientSecret: [clientSecret].flat()[0] as string })
      const token = await portal.accessToken()
      t.equal((await portal.user(token)).status, 200, information.clientId)
      t.strictSame(told.pop(), information)
      t.strictSame(events.map(({ type, clientId }) => [type, clientId]), [
        ['code_issued', information.clientId],
        ['token_issued', information.clientId],
        ['user_information_returned', information.clientId]
      ])
      events.length = 0
    }
  }
})

t.test('the level is that of the portal that asked', async (t) => {
  const { url, events } = await startHost(t, { portal: [live, test] })
  t.ok((await wire(url).authorize()).redirect.get('code'), 'a partner user at the partner level')
  const refused = await wire(url, { ...test, clientSecret: 'new secret' }).authorize()
  t.equal(refused.redirect.get('error'), 'server_error', 'and not at the client level')
  t.match(events.pop(), { reason: 'user_information_invalid', clientId: test.clientId, rule: /client level/ })

  const others = await startHost(t, { portal: [test, live], portalEligibility: ({ id }) => clientRecord(id) })
  t.ok((await wire(others.url, { ...test, clientSecret: 'new secret' }).authorize()).redirect.get('code'))
  t.equal((await wire(others.url).authorize()).redirect.get('error'), 'server_error', 'it needs a client there')
})

t.test('which secret was used', async (t) => {
  const { url, events } = await startHost(t, { portal: [live, test], portalEligibility: ({ id }) => clientRecord(id) })
  for (const [secretIndex, clientSecret] of test.clientSecret.entries()) {
    await wire(url, { ...test, clientSecret }).accessToken()
    t.match(events.pop(), { type: 'token_issued', secretIndex, clientId: test.clientId })
  }
})

t.test('a token is refused where its portal has another level now', async (t) => {
  const { MemoryStore } = await import('../../lib/stores/memory.ts')
  const store = new MemoryStore(10)
  const record = { portalEligibility: ({ id }: { id: string }) => clientRecord({ ...recordOf(id) }.external_id) }
  const client = { ...PORTAL, level: 'client' as const }
  const before = await startHost(t, { store, portal: client, ...record })
  const token = await wire(before.url).accessToken()
  const code = await wire(before.url).code()
  const after = await startHost(t, { store, portal: live, ...record })
  t.equal((await wire(after.url).user(token)).status, 401)
  t.match(after.events.pop(), { reason: 'token_unknown', clientId: PORTAL.clientId, externalId: 'alice' })
  t.equal((await wire(after.url).token({ code })).json.error, 'invalid_grant', 'and so is a code')
})
