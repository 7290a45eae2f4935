import { type Level } from '../../../testing/settings.ts'
import { unlistedFields, type UserInformation } from '../../../user-information.ts'
import { html, type Html } from './html.ts'

/** What the roles allow, in the words of spec §2.3. */
const CONTROL: Record<UserInformation['control_role'], string> = {
  'Partner Administrator': 'Can manage the partner’s clients, merchants, descriptors and the like.',
  'Partner Read Only': 'Can only view the partner’s clients, merchants, descriptors and the like.',
  'Client Administrator': 'Can manage the client’s merchants, descriptors and the like.',
  'Client Read Only': 'Can only view the client’s merchants, descriptors and the like.'
}

const PRODUCT: Record<UserInformation['product_role'], string> = {
  'Product Operator': 'Can manage alerts, chargebacks, RDRs and the like.',
  'Product Read Only': 'Can only view alerts, chargebacks, RDRs and the like.'
}

const NAMES: Record<string, string> = {
  client_id: 'The portal’s client identifier',
  client_name: 'The portal’s client name',
  client_external_id: 'Your client identifier'
}

/** The user as the portal understands the record. */
export function recordCard (record: UserInformation, level: Level): Html {
  const ignored = unlistedFields(record as unknown as Record<string, unknown>)
  return html`<section class="card" aria-labelledby="record">
<h2 id="record">The user, as the portal sees them</h2>
<p class="hint">${record.type === 'partner' ? 'A partner user' : 'A client user'}, at the ${level} OAuth level.</p>
<div class="person"><span class="face" aria-hidden="true">${initials(record.name)}</span><div><strong>${record.name}</strong><span>${record.email}</span></div></div>
<div class="facts">
<div class="role"><b>${record.control_role}</b><span>${CONTROL[record.control_role]}</span></div>
<div class="role"><b>${record.product_role}</b><span>${PRODUCT[record.product_role]}</span></div>
</div>
<dl class="facts">
<div><dt>Your user identifier</dt><dd class="mono">${record.external_id}</dd></div>
${Object.entries(NAMES).map(([name, meaning]) => clientFact(meaning, (record as unknown as Record<string, unknown>)[name]))}
</dl>
${ignored.length === 0 ? null : html`<p class="hint">The portal does not know, and ignores: <code>${ignored.join(', ')}</code></p>`}
</section>`
}

function clientFact (meaning: string, value: unknown): Html {
  return value === undefined ? html`` : html`<div><dt>${meaning}</dt><dd class="mono">${String(value)}</dd></div>`
}

function initials (name: string): string {
  return name.split(/\s+/).filter((word) => /\p{L}/u.test(word)).map((word) => Array.from(word.replace(/[^\p{L}]/gu, ''))[0]).slice(0, 2).join('').toUpperCase()
}
