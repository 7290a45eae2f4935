import { basicCredentials } from '../../testing/requests.ts'
import { type Integration } from '../../testing/settings.ts'

const HIDDEN = '••••••••'
/** Shorter secrets are hidden as whole words only: hiding them everywhere would hide half the text. */
const SHORT = 4

/** Replaces the client secret, in every form in which it travels, in all texts of a value. */
export function hideClientSecret ({ clientId, clientSecret }: Integration): <Value>(value: Value) => Value {
  const pattern = new RegExp(formsOf(clientId, clientSecret).map(literal).join('|'), 'giu')
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(pattern, HIDDEN)
    if (Array.isArray(value)) return value.map(hide)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]))
  }
  return <Value>(value: Value) => hide(value) as Value
}

/** Longest first: a form may contain another one. */
function formsOf (clientId: string, clientSecret: string): string[] {
  const form = new URLSearchParams({ v: clientSecret }).toString().slice(2)
  const basic = basicCredentials(clientId, clientSecret).slice('Basic '.length)
  const json = JSON.stringify(clientSecret).slice(1, -1)
  return [clientSecret, encodeURIComponent(clientSecret), form, json, basic].sort((a, b) => b.length - a.length)
}

function literal (text: string): string {
  const escaped = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return text.length < SHORT ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped
}
