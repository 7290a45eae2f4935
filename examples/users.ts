import type { UserInformation } from 'fastify-partner-sso'

/** A user of the partner application, as its database has them. */
export interface User {
  id: string
  email: string
  name: string
  /** The role at the partner application. It determines the roles at the portal. */
  role: 'owner' | 'analyst' | 'merchant' | 'guest'
  /** The merchant that the user works for; absent for employees of the partner. */
  merchant?: { id: string, name: string }
}

export const users: User[] = [
  { id: 'u-1', email: 'ada@partner.example', name: 'Ada Okafor', role: 'owner' },
  { id: 'u-2', email: 'bo@partner.example', name: 'Bo Lindqvist', role: 'analyst' },
  {
    id: 'u-3',
    email: 'carmen@northwind.example',
    name: 'Carmen Ruiz',
    role: 'merchant',
    merchant: { id: 'm-77', name: 'Northwind Traders' }
  },
  { id: 'u-4', email: 'dev@partner.example', name: 'Dev Patel', role: 'guest' }
]

/** The user with this identifier, or null. */
export function userWith (id: unknown): User | null {
  return users.find((user) => user.id === id) ?? null
}

/** Registers a merchant. Your app asks for more than a name, and lets the e-mail address be confirmed. */
export function addUser (name: string): User {
  const number = users.length + 1
  const merchant = { id: `m-${number}`, name }
  const user: User = { id: `u-${number}`, email: `user-${number}@merchant.example`, name, role: 'merchant', merchant }
  users.push(user)
  return user
}

/** The record with which this user enters the portal; null for a user who may not enter. */
export function portalRecord (user: User): UserInformation | null {
  const identity = { external_id: user.id, email: user.email, name: user.name }
  switch (user.role) {
    case 'owner':
      return {
        ...identity,
        type: 'partner',
        control_role: 'Partner Administrator',
        product_role: 'Product Operator'
      }
    case 'analyst':
      return {
        ...identity,
        type: 'partner',
        control_role: 'Partner Read Only',
        product_role: 'Product Operator'
      }
    case 'merchant':
      return {
        ...identity,
        type: 'client',
        client_external_id: user.merchant?.id ?? user.id,
        control_role: 'Client Read Only',
        product_role: 'Product Read Only'
      }
    case 'guest':
      return null
  }
}
