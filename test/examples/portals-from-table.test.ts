// The example that keeps its portals in a table: a row is added, signed in to, and turned off. The table stands in for
// PostgreSQL; it answers the example's two statements.
import t from 'tap'
import { addIntegration, portalsIn } from '../../examples/portals-from-table.ts'
import type { Database } from '../../examples/portals-from-table.ts'
import { portal } from '../../lib/testing/index.ts'
import { recordOf, startHost } from '../helpers/host.ts'

const registration = {
  loginUrl: 'https://portal.example/external-oauth/demo',
  clientId: 'acme',
  clientSecret: 'a secret',
  redirectUri: 'https://portal.example/oauth/callback'
}

/** A table of rows, each with what was inserted; those of `disabled` are not found. */
function table (): Database & { disabled: Set<unknown> } {
  const rows: unknown[][] = []
  const disabled = new Set<unknown>()
  return {
    disabled,
    async query (sql, values = []) {
      if (sql.startsWith('INSERT')) rows.push(values)
      const found = rows.filter(([clientId]) => clientId === values[0] && !disabled.has(clientId))
      const names = ['clientId', 'clientSecret', 'loginUrl', 'redirectUri', 'level']
      for (const name of names) if (!sql.startsWith('INSERT') && name !== 'level') t.match(sql, `AS "${name}"`)
      return { rows: found.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]]))) }
    }
  }
}

t.test('an integration that is added while the app runs, and turned off', async (t) => {
  const database = table()
  const { app } = await startHost(t, { portal: portalsIn(database) })
  const { loginUrl, ...integration } = registration
  const double = portal({ app, ...integration, timeout: 60_000 })
  const user = { headers: { 'x-user': 'alice' } }
  t.match(await double.signIn(user), { ok: false }, 'not in the table yet')
  await addIntegration(database, registration)
  t.match(await double.signIn(user), { ok: true, record: recordOf('alice') })
  database.disabled.add('acme')
  t.match(await double.signIn(user), { ok: false }, 'turned off')
})
