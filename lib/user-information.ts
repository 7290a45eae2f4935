import { type PortalLevel } from './portal.ts'

interface UserInformationFields {
  /** The partner application's user identifier. */
  external_id: string
  /** The user's e-mail address. */
  email: string
  /** The user's display name. */
  name: string
  /** `Product Operator` manages alerts, chargebacks, RDRs and the like; `Product Read Only` views them. */
  product_role: 'Product Operator' | 'Product Read Only'
}

/** A user of the partner itself. Has none of the client fields. */
export interface PartnerUserInformation extends UserInformationFields {
  type: 'partner'
  /** Manages, or only views, the partner's clients, merchants, descriptors and the like. */
  control_role: 'Partner Administrator' | 'Partner Read Only'
  client_id?: never
  client_name?: never
  client_external_id?: never
}

/** A user of one of the partner's clients. At the partner level `client_id` or `client_external_id` is needed. */
export interface ClientUserInformation extends UserInformationFields {
  type: 'client'
  /** Manages, or only views, the client's merchants, descriptors and the like. */
  control_role: 'Client Administrator' | 'Client Read Only'
  /** The portal's client identifier; passed on as given, text or number. */
  client_id?: string | number
  /** The portal's client name. */
  client_name?: string
  /** The partner application's client identifier. */
  client_external_id?: string
}

/** The record that a user enters the portal with, in wire format (spec section 2.3). */
export type UserInformation = PartnerUserInformation | ClientUserInformation

const productRoles = ['Product Operator', 'Product Read Only'] as const
const controlRoles = {
  partner: ['Partner Administrator', 'Partner Read Only'],
  client: ['Client Administrator', 'Client Read Only']
} as const

const choice = (values: readonly string[]): string => values.map((value) => `"${value}"`).join(' or ')
const textRules = {
  external_id: 'external_id must be a non-empty string',
  email: 'email must be a non-empty string',
  name: 'name must be a non-empty string'
}
const productRoleRule = `product_role must be ${choice(productRoles)}`
const controlRoleRules = {
  partner: `control_role must be ${choice(controlRoles.partner)} where type is "partner"`,
  client: `control_role must be ${choice(controlRoles.client)} where type is "client"`
}

const text = { type: 'string', minLength: 1 } as const
const identity = { external_id: text, email: text, name: text, product_role: { enum: productRoles } } as const
const required = ['external_id', 'email', 'name', 'type', 'control_role', 'product_role'] as const

/**
 * JSON Schema of the record (spec section 2.3), which TypeBox and Fastify read as it is. At the partner level a client
 * user needs `client_id` or `client_external_id` besides; at the client level there are client users only.
 */
export const UserInformation = {
  anyOf: [
    {
      type: 'object',
      required,
      properties: { ...identity, type: { const: 'partner' }, control_role: { enum: controlRoles.partner } },
      not: { anyOf: [{ required: ['client_id'] }, { required: ['client_name'] }, { required: ['client_external_id'] }] }
    },
    {
      type: 'object',
      required,
      properties: {
        ...identity,
        type: { const: 'client' },
        control_role: { enum: controlRoles.client },
        client_id: { anyOf: [text, { type: 'number' }] },
        client_name: text,
        client_external_id: text
      }
    }
  ]
} as const

/** The greatest record that is accepted: bytes of its JSON in UTF-8. */
export const RECORD_LIMIT = 16_384

/** A record that broke a rule of spec section 2.3. The message names the rule and holds nothing of the record. */
export class UserInformationError extends TypeError {
  readonly rule: string

  constructor (rule: string) {
    super(`The record of portalEligibility breaks a rule: ${rule}`)
    this.name = 'UserInformationError'
    this.rule = rule
  }
}

/** The record as it leaves: checked, its listed fields and no others. Throws a `UserInformationError`. */
export function checkUserInformation (given: unknown, level: PortalLevel): UserInformation {
  rule(typeof given === 'object' && given !== null, 'it must be an object')
  const record = listedFields(given)
  for (const name of ['external_id', 'email', 'name'] as const) {
    rule(isText(record[name]), textRules[name])
  }
  rule(isOneOf(productRoles, record.product_role), productRoleRule)
  rule(record.type === 'partner' || record.type === 'client', 'type must be "partner" or "client"')
  const roles = controlRoles[record.type]
  rule(isOneOf(roles, record.control_role), controlRoleRules[record.type])
  if (record.type === 'partner') checkPartner(record, level)
  else checkClient(record, level)
  rule(Buffer.byteLength(JSON.stringify(record)) <= RECORD_LIMIT, `its JSON must be at most ${RECORD_LIMIT} bytes`)
  return record as unknown as UserInformation
}

type Fields = Record<keyof PartnerUserInformation, unknown>

function checkPartner (record: Fields, level: PortalLevel): void {
  rule(level === 'partner', 'type must be "client" at the client level')
  for (const name of ['client_id', 'client_name', 'client_external_id'] as const) {
    rule(record[name] === undefined, `${name} must be absent where type is "partner"`)
  }
}

function checkClient ({ client_id: id, client_name: name, client_external_id: externalId }: Fields, level: PortalLevel): void {
  rule(id === undefined || isText(id) || Number.isFinite(id), 'client_id must be a non-empty string or a number')
  rule(name === undefined || isText(name), 'client_name must be a non-empty string')
  rule(externalId === undefined || isText(externalId), 'client_external_id must be a non-empty string')
  rule(level === 'client' || id !== undefined || externalId !== undefined,
    'client_id or client_external_id is needed for a client user at the partner level')
}

/** Each field is read once: what was checked is what leaves. */
function listedFields (given: object): Fields {
  const {
    external_id, email, name, type, client_id, client_name, client_external_id, control_role, product_role
  } = given as Fields
  return { external_id, email, name, type, client_id, client_name, client_external_id, control_role, product_role }
}

function rule (holds: boolean, text: string): asserts holds {
  if (!holds) throw new UserInformationError(text)
}

function isText (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isOneOf (values: readonly string[], value: unknown): boolean {
  return values.includes(value as string)
}
