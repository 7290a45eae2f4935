import type { Secrets } from '../../../testing/masking.ts'
import type { Level } from '../../../testing/settings.ts'
import { unlistedFields } from '../../../user-information.ts'
import type { UserInformation } from '../../../user-information.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/** What each role allows. */
const ROLES: Record<string, string> = {
  'Partner Administrator': 'Can manage the partner’s clients, merchants, descriptors and the like.',
  'Partner Read Only': 'Can only view the partner’s clients, merchants, descriptors and the like.',
  'Client Administrator': 'Can manage the client’s merchants, descriptors and the like.',
  'Client Read Only': 'Can only view the client’s merchants, descriptors and the like.',
  'Product Operator': 'Can manage alerts, chargebacks, RDRs and the like.',
  'Product Read Only': 'Can only view alerts, chargebacks, RDRs and the like.'
}

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
  return html`<section class="card" aria-labelledby="record">
<h2 id="record">The user at the portal</h2>
<p class="quiet small">A ${record.type} user, at the ${level} OAuth level.</p>
<dl>${Object.entries(LABELS).map(([field, label]) =>
    fields.has(field) ? fact(label, secrets.mask(String(fields.get(field)))) : html``)}</dl>
${ignored.length === 0
    ? null
    : html`<p class="quiet small">The portal ignores: <code>${secrets.mask(ignored.join(', '))}</code></p>`}
</section>`
}

const fact = (label: string, value: string): Html => html`<div><dt>${label}</dt><dd>${value}</dd>
${label.endsWith('role') ? html`<dd class="small quiet">${ROLES[value] as string}</dd>` : null}</div>`
