import { kindOf } from './assert.ts'
import type { PortalLevel } from './portal/portal.ts'
import * as Type from './typebox.ts'

/** Not empty, without NUL and lone surrogates, which most JSON parsers refuse. */
const TEXT = { pattern: '^[^\\u0000\\ud800-\\udfff]+$' }
const IS_TEXT = 'a non-empty string of well-formed Unicode without NUL'

// The description of a field completes the sentence "<field> must be …". Documents and error messages both use it.
const text = (meaning: string) => Type.String({ ...TEXT, description: `${IS_TEXT} (${meaning})` })
// Null counts as absent: a row of a database has it.
const optionalText = (meaning: string) =>
  Type.Optional(Type.Union([Type.String(TEXT), Type.Null()], { description: `${IS_TEXT} (${meaning})` }))
// JavaScript rounds a whole number that is greater: the portal would get the identifier of another client. A fraction
// leaves as it was given: JSON has the shortest decimal number that JavaScript reads as this one.
const exactNumber = Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
const absent = () => Type.Optional(Type.Null({ description: 'absent where type is "partner"' }))
const oneOf = (values: readonly string[]) => values.map((value) => `"${value}"`).join(' or ')

const user = {
  /** The partner application's user identifier. */
  external_id: text("the partner application's user identifier"),
  /** The user's e-mail address. */
  email: text("the user's e-mail address"),
  /** The user's display name. */
  name: text("the user's display name")
}

const productRoles = ['Product Operator', 'Product Read Only'] as const
const productRole = {
  /** `Product Operator` manages alerts, chargebacks, RDRs and the like; `Product Read Only` views them. */
  product_role: Type.Enum(productRoles, { type: 'string', description: oneOf(productRoles) })
}

const partnerRoles = ['Partner Administrator', 'Partner Read Only'] as const
const partnerUser = Type.Object({
  ...user,
  type: Type.Literal('partner', { description: '"partner" or "client"' }),
  client_id: absent(),
  client_name: absent(),
  client_external_id: absent(),
  /** Manages, or only views, the partner's clients, merchants, descriptors and the like. */
  control_role: Type.Enum(partnerRoles, {
    type: 'string',
    description: `${oneOf(partnerRoles)} where type is "partner"`
  }),
  ...productRole
})

const clientRoles = ['Client Administrator', 'Client Read Only'] as const
const clientUser = Type.Object({
  ...user,
  type: Type.Literal('client', { description: '"partner" or "client"' }),
  /** The portal's client identifier; passed on as given, text or number. */
  client_id: Type.Optional(Type.Union([Type.String(TEXT), exactNumber, Type.Null()], {
    description: `${IS_TEXT}, or a number from -(2^53 - 1) to 2^53 - 1, beyond which JavaScript rounds whole ` +
      "numbers (the portal's client identifier)"
  })),
  /** The portal's client name. */
  client_name: optionalText("the portal's client name"),
  /** The partner application's client identifier. */
  client_external_id: optionalText("the partner application's client identifier"),
  /** Manages, or only views, the client's merchants, descriptors and the like. */
  control_role: Type.Enum(clientRoles, {
    type: 'string',
    description: `${oneOf(clientRoles)} where type is "client"`
  }),
  ...productRole
})

/** A user of the partner itself, without client fields. */
export interface PartnerUserInformation extends Type.Static<typeof partnerUser> {}

/** A user of one of the partner's clients. At the partner level `client_id` or `client_external_id` is needed. */
export interface ClientUserInformation extends Type.Static<typeof clientUser> {}

/** The record that a user enters the portal with, in wire format. */
export type UserInformation = PartnerUserInformation | ClientUserInformation

/**
 * TypeBox schema of the record, and JSON Schema for Fastify. It is the source of the types, the check, the error
 * messages and the API documents. It does not know the OAuth level: at the partner level a client user also needs
 * `client_id` or `client_external_id`; at the client level there are client users only.
 */
export const UserInformation = Type.Union([partnerUser, clientUser])

type Field = keyof PartnerUserInformation
type Fields = Record<Field, unknown>

/** In the order in which they are sent. */
const fields = Object.keys(clientUser.properties) as Field[]
const roles: string[] = ['type', 'control_role', 'product_role'] satisfies Field[]
/** The words of all roles. */
const roleWords = [...partnerRoles, ...clientRoles, ...productRoles].join(' ').toLowerCase().split(' ')

const partnerValidator = Type.Compile(partnerUser)
const clientValidator = Type.Compile(clientUser)

/** The greatest record that is accepted: bytes of its JSON in UTF-8. The smallest record has about 150. */
export const RECORD_LIMIT = 16_384

/** A record that was read. */
export interface ReadRecord {
  /** A copy with the listed fields and no others. It is one of the type only without a fault. */
  record: UserInformation
  /**
   * Every rule that is broken at the level, one sentence each, with the kind of what was given, or the text of a role:
   * no personal data.
   */
  faults: string[]
}

/** Reads each field of a record once, and checks it. */
export function readUserInformation (given: unknown, level: PortalLevel): ReadRecord {
  const record = listedFields(Object(given))
  const isObject = typeof given === 'object' && given !== null
  const faults = isObject ? faultsOf(record, level) : [`it must be an object, got ${kindOf(given)}`]
  return { record: record as object as UserInformation, faults }
}

/** Names of the fields that are not part of the record. */
export function unlistedFields (record: Record<string, unknown>): string[] {
  return Object.keys(record).filter((name) => !fields.includes(name as Field))
}

/** A client field that is null is undefined here. */
function listedFields (given: Fields): Fields {
  const record = {} as Fields
  for (const field of fields) {
    const value = given[field]
    record[field] = value === null && field.startsWith('client_') ? undefined : value
  }
  return record
}

function faultsOf (record: Fields, level: PortalLevel): string[] {
  const broken = [...schemaFaults(record), ...levelFaults(record, level)]
  return broken.length > 0 ? broken : sizeFaults(record)
}

function schemaFaults (record: Fields): string[] {
  const validator = record.type === 'client' ? clientValidator : partnerValidator
  if (validator.Check(record)) return []
  const { properties } = validator.Schema() as object as { properties: Record<Field, { description: string }> }
  const [, errors] = validator.Errors(record)
  const broken = new Set(errors.map(({ instancePath }) => instancePath.slice(1) as Field))
  // The other rules depend on the type.
  const reported: Iterable<Field> = broken.has('type') ? ['type'] : broken
  return Array.from(reported, (field) =>
    `${field} must be ${properties[field].description}, got ${describeValue(field, record[field])}`)
}

/** The rules that depend on the OAuth level, which the schema does not know. */
function levelFaults ({ type, client_id: id, client_external_id: externalId }: Fields, level: PortalLevel): string[] {
  if (type === 'partner' && level === 'client') return ['type must be "client" at the client level, got "partner"']
  if (type !== 'client' || level === 'client' || id !== undefined || externalId !== undefined) return []
  return ['client_id or client_external_id must be given for a client user at the partner level, got neither']
}

function sizeFaults (record: Fields): string[] {
  const size = Buffer.byteLength(JSON.stringify(record))
  return size > RECORD_LIMIT ? [`its JSON must be at most ${RECORD_LIMIT} bytes in UTF-8, got ${size}`] : []
}

/**
 * The kind of a value; of a role the text, where it shares a word with one. Other text may be a name that was given by
 * mistake.
 */
function describeValue (field: Field, value: unknown): string {
  const isRole = roles.includes(field) && typeof value === 'string' && /^[\w -]{1,40}$/.test(value)
  const words = isRole ? value.toLowerCase().split(/[^a-z]+/) : []
  return words.some((word) => roleWords.includes(word)) ? `"${String(value)}"` : kindOf(value)
}
