import type { Secrets } from '../../../testing/masking.ts'
import type { Level } from '../../../testing/settings.ts'
import { unlistedFields } from '../../../user-information.ts'
import type { UserInformation } from '../../../user-information.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { card, fact } from './layout.ts'

const LABELS: Record<string, string> = {
  name: 'Name',
  email: 'E-mail address',
  control_role: 'Control role',
  product_role: 'Product role',
  external_id: 'Your user identifier',
  client_id: 'The portal’s client identifier',
  client_name: 'The portal’s client name',
  client_external_id: 'Your client identifier'
}

/** The user as the portal understands the record. */
export function recordCard (record: UserInformation, level: Level, secrets: Secrets): Html {
  const fields = new Map<string, unknown>(Object.entries(record))
  const ignored = unlistedFields({ ...record })
  return card('record', 'The user at the portal', html`
<p class="quiet">A ${record.type} user, at the ${level} OAuth level.</p>
<dl>${Object.entries(LABELS).filter(([field]) => fields.has(field)).map(([field, label]) =>
    fact(label, secrets.mask(String(fields.get(field)))))}</dl>
${ignored.length === 0 ? null : html`<p>The portal ignores: <code>${secrets.mask(ignored.join(', '))}</code></p>`}`)
}
