import { kindOf } from './assert.ts'
import type { PortalLevel } from './portal/portal.ts'
import * as Type from './typebox.ts'

/** Text that is not empty and has neither NUL nor lone surrogates, which most JSON parsers refuse. */
const TEXT = { pattern: '^[^\\u0000\\ud800-\\udfff]+$' }
const IS_TEXT = 'a non-empty string of well-formed Unicode without NUL'

// The description of a field completes the sentence "<field> must be …". Documents and error messages both use it.
const text = (meaning: string) => Type.String({ ...TEXT, description: `${IS_TEXT} (${meaning})` })
// Null counts as absent, because a row of a database has null where there is no value.
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

/**
 * The record of a user of the partner itself: `type` is `partner`, `control_role` is a role of partners, and the client
 * fields are absent (null counts as absent).
 */
export interface PartnerUserInformation extends Type.Static<typeof partnerUser> {}

/**
 * The record of a user of one of the partner's clients: `type` is `client`, and `control_role` is a role of clients. At
 * the OAuth level `partner` it must have `client_id` or `client_external_id`.
 */
export interface ClientUserInformation extends Type.Static<typeof clientUser> {}

/**
 * The record that a user enters the portal with, as it is sent: what `portalEligibility` returns and `GET /oauth/user`
 * responds with. Fields that are not listed are dropped.
 */
export type UserInformation = PartnerUserInformation | ClientUserInformation

/**
 * The schema of the record, by TypeBox, which is also a JSON Schema that Fastify can use. It is the only source of the
 * types, the check, the sentences of what is wrong, and the API documents.
 *
 * The schema does not know the OAuth level of a portal. At the level `partner` a user of a client must also have
 * `client_id` or `client_external_id`, and at the level `client` there are users of clients only.
 */
export const UserInformation = Type.Union([partnerUser, clientUser])

type Field = keyof PartnerUserInformation
type Fields = Record<Field, unknown>

/** The fields of a record, in the order in which they are sent. */
const fields = Object.keys(clientUser.properties) as Field[]
const roles: string[] = ['type', 'control_role', 'product_role'] satisfies Field[]
/** The words of all roles, in lower case. */
const roleWords = [...partnerRoles, ...clientRoles, ...productRoles].join(' ').toLowerCase().split(' ')

const partnerValidator = Type.Compile(partnerUser)
const clientValidator = Type.Compile(clientUser)

/** Bytes of the longest record that is accepted, as JSON in UTF-8. The shortest record has about 150. */
export const RECORD_LIMIT = 16_384

/** A record that was read. */
export interface ReadRecord {
  /** A copy with the listed fields and no others. Only where there is no fault, it is what its type says. */
  record: UserInformation
  /**
   * One sentence for each rule that the record breaks at the level. It says what was given by its kind, or in the case
   * of a role by its text, so that it has no personal data.
   */
  faults: string[]
}

/**
 * Reads a record and checks it. Each field is read once, so that what is sent is what was checked.
 *
 * @param given - anything
 * @param level - the OAuth level of the portal that gets the record
 */
export function readUserInformation (given: unknown, level: PortalLevel): ReadRecord {
  const record = listedFields(Object(given))
  const isObject = typeof given === 'object' && given !== null
  const faults = isObject ? faultsOf(record, level) : [`it must be an object, got ${kindOf(given)}`]
  return { record: record as object as UserInformation, faults }
}

/** Returns the names of the fields that are not part of a record. */
export function unlistedFields (record: Record<string, unknown>): string[] {
  return Object.keys(record).filter((name) => !fields.includes(name as Field))
}

/** Copies the listed fields. A client field that is null becomes undefined. */
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
  // The other rules depend on the type, so a wrong type is the only fault that is reported.
  const reported: Iterable<Field> = broken.has('type') ? ['type'] : broken
  return Array.from(reported, (field) =>
    `${field} must be ${properties[field].description}, got ${describeValue(field, record[field])}`)
}

/** Checks the rules that depend on the OAuth level, which the schema does not know. */
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
 * Says what a value is, by its kind. The text of a field for a role is shown where it shares a word with a role; other
 * text may be somebody's name that was given by mistake.
 */
function describeValue (field: Field, value: unknown): string {
  const isRole = roles.includes(field) && typeof value === 'string' && /^[\w -]{1,40}$/.test(value)
  const words = isRole ? value.toLowerCase().split(/[^a-z]+/) : []
  return words.some((word) => roleWords.includes(word)) ? `"${String(value)}"` : kindOf(value)
}
