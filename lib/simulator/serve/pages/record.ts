import { type Level } from '../../../testing/settings.ts'
import { type UserInformation } from '../../../user-information.ts'
import { html, type Html } from './html.ts'

/** What each role allows. */
const ROLES: Record<UserInformation['control_role' | 'product_role'], string> = {
  'Partner Administrator': 'Can manage the partner’s clients, merchants, descriptors and the like.',
  'Partner Read Only': 'Can only view the partner’s clients, merchants, descriptors and the like.',
  'Client Administrator': 'Can manage the client’s merchants, descriptors and the like.',
  'Client Read Only': 'Can only view the client’s merchants, descriptors and the like.',
  'Product Operator': 'Can manage alerts, chargebacks, RDRs and the like.',
  'Product Read Only': 'Can only view alerts, chargebacks, RDRs and the like.'
}

const CLIENT_FIELDS: Record<string, string> = {
  client_id: 'The portal’s client identifier',
  client_name: 'The portal’s client name',
  client_external_id: 'Your client identifier'
}

/** The user as the portal understands the record. */
export function recordCard (record: UserInformation, ignored: string[], level: Level): Html {
  const { name, email, control_role: control, product_role: product } = record
  const fields = new Map<string, unknown>(Object.entries(record))
  return html`<section class="card" aria-labelledby="record">
<h2 id="record">The user at the portal</h2>
<p class="hint">${record.type === 'partner' ? 'A partner user' : 'A client user'}, at the ${level} OAuth level.</p>
<div class="person"><span class="face" aria-hidden="true">${initials(name)}</span>
<div><strong>${name}</strong><span>${email}</span></div></div>
<div class="facts">
${[control, product].map((role) => html`<div class="role"><b>${role}</b><span>${ROLES[role]}</span></div>`)}
</div>
<dl class="facts">
<div><dt>Your user identifier</dt><dd class="mono">${record.external_id}</dd></div>
${Object.entries(CLIENT_FIELDS).map(([field, meaning]) => clientFact(meaning, fields.get(field)))}
</dl>
${ignored.length === 0
    ? null
    : html`<p class="hint">The portal does not know, and ignores: <code>${ignored.join(', ')}</code></p>`}
</section>`
}

function clientFact (meaning: string, value: unknown): Html {
  return value === undefined ? html`` : html`<div><dt>${meaning}</dt><dd class="mono">${String(value)}</dd></div>`
}

function initials (name: string): string {
  const words = name.split(/\s+/).map((word) => Array.from(word.replace(/[^\p{L}]/gu, '')))
  return words.map(([first]) => first).filter((first) => first !== undefined).slice(0, 2).join('').toUpperCase()
}
