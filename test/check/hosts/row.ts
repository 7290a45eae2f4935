// A row of the tables: the partner's app of all tests, in which one thing differs, and the rules that fail for it.
import cookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import type { Store } from '../../../lib/index.ts'
import type { CheckedUsers, Injectable, PortalSettings, User } from '../../../lib/testing/index.ts'
import { partnerApp, sessionOf } from '../../app.ts'
import type { Change as AppChange } from '../../app.ts'

/** What differs from the correct app, or beside it. */
export interface Change extends AppChange {
  /** What the portal has in its configuration. */
  settings?: Partial<PortalSettings>
  users?: CheckedUsers
  /** What is checked, in place of one app: several of them, or something in front of it. */
  make?: () => Injectable
}

/** Name, change, and the rules that fail: identifiers, with `advice:` before those that break nothing. */
export type Row = readonly [name: string, change: Change | (() => Change), ...expected: string[]]

/** A user who logs in by the form of the login page. */
export const byForm = (person: string): User => ({ login: { user: person } })

/** A user with the session cookie that a login sets. */
export const byCookie = (person: string): User => ({ cookies: sessionOf(person) })

/** The three people, each of them a user of this kind. */
export const people = (user: (person: string) => User): CheckedUsers =>
  ({ user: [user('ada'), user('bob')], ineligible: user('eve') })

/** The partner's app with @fastify/cookie: `request.cookies`, `reply.setCookie()`. */
export function appOf ({ prepare = () => {}, ...change }: Change): FastifyInstance {
  return partnerApp({
    ...change,
    async prepare (app) {
      await app.register(cookie)
      await prepare(app)
    }
  })
}

/** What is checked. */
export const checkable = (change: Change): Injectable => change.make?.() ?? appOf(change)

/** A store as a partner may write it: correct, but for the operations that are replaced. */
export function ownStore (replace: (records: Map<string, string>) => Partial<Store> = () => ({})): Store {
  const records = new Map<string, string>()
  return {
    async put (key, value) {
      if (records.has(key)) return false
      records.set(key, value)
      return true
    },
    async take (key) {
      const value = records.get(key)
      records.delete(key)
      return value === undefined || value === '' ? null : value
    },
    async revoke (key) {
      const value = records.get(key)
      records.set(key, '')
      return value ?? null
    },
    ...replace(records)
  }
}

/** Several processes behind a balancer that asks them in turn: an app for each change. */
export function inTurn (...changes: Change[]): Injectable {
  const apps = changes.map((change) => appOf(change))
  let count = 0
  return { inject: (options) => (apps[count++ % apps.length] as FastifyInstance).inject(options) }
}
