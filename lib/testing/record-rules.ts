import { type Level } from './settings.ts'

const PRODUCT_ROLES = ['Product Operator', 'Product Read Only']
const CLIENT_FIELDS = ['client_id', 'client_name', 'client_external_id']
const FIELDS = ['external_id', 'email', 'name', 'type', 'control_role', 'product_role', ...CLIENT_FIELDS]

type Fields = Record<string, unknown>

/** Every way in which a record breaks spec §2.3 at the given level, one sentence each; empty when it breaks none. */
export function recordFaults (record: Fields, level: Level): string[] {
  return [
    ...missingText(record),
    ...roleFaults(record),
    ...clientFaults(record, level)
  ]
}

/** Fields that spec §2.3 does not list. */
export function unlistedFields (record: Fields): string[] {
  return Object.keys(record).filter((name) => !FIELDS.includes(name))
}

function missingText (record: Fields): string[] {
  return ['external_id', 'email', 'name']
    .filter((name) => typeof record[name] !== 'string' || record[name] === '')
    .map((name) => `${name} must be a non-empty string, not ${shown(record[name])}.`)
}

function roleFaults ({ type, control_role: control, product_role: product }: Fields): string[] {
  const faults: string[] = []
  if (type !== 'partner' && type !== 'client') faults.push(`type must be partner or client, not ${shown(type)}.`)
  else if (!controlRoles(type).includes(String(control))) faults.push(`control_role of a ${type} user must be ${controlRoles(type).join(' or ')}, not ${shown(control)}.`)
  if (!PRODUCT_ROLES.includes(String(product))) faults.push(`product_role must be ${PRODUCT_ROLES.join(' or ')}, not ${shown(product)}.`)
  return faults
}

function clientFaults (record: Fields, level: Level): string[] {
  const given = CLIENT_FIELDS.filter((name) => record[name] !== undefined)
  if (level === 'client' && record.type === 'partner') return ['type must be client at the client OAuth level.']
  if (record.type === 'partner') return given.map((name) => `${name} must not be given for a partner user.`)
  if (record.type !== 'client') return []
  const typed = given.filter((name) => !isIdentifier(name, record[name])).map((name) => `${name} must be a string, not ${shown(record[name])}.`)
  const identified = given.includes('client_id') || given.includes('client_external_id')
  return level === 'partner' && !identified ? [...typed, 'client_id or client_external_id must be given for a client user at the partner OAuth level.'] : typed
}

/** client_id: the spec's table says string, its example shows a number. */
function isIdentifier (name: string, value: unknown): boolean {
  return typeof value === 'string' || (name === 'client_id' && typeof value === 'number')
}

function controlRoles (type: 'partner' | 'client'): string[] {
  const whose = type === 'partner' ? 'Partner' : 'Client'
  return [`${whose} Administrator`, `${whose} Read Only`]
}

const shown = (value: unknown): string => value === undefined ? 'absent' : JSON.stringify(value)
