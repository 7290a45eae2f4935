import type { FastifyInstance } from 'fastify'
import type { PartnerSsoOptions } from 'fastify-partner-sso'
import type { User } from '../users.ts'

/** Adds a login, and the plugin with what the login gives it, to an app. */
export type Login = (app: FastifyInstance, settings: LoginSettings) => Promise<void>

export interface LoginSettings {
  /** The options of the plugin that do not depend on the login. */
  sso: Omit<PartnerSsoOptions<User>, 'currentUser' | 'loginPage'>
  /** Signs cookies and tokens: 32 random characters or more. */
  secret: string
  /** Where a sign-in to the portal begins. */
  loginUrl: string
}
