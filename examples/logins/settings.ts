import type { FastifyInstance } from 'fastify'
import type { PartnerSsoOptions } from 'fastify-partner-sso'
import type { User } from '../users.ts'

declare module 'fastify' {
  interface Session { userId?: string, verifier?: string }
}

/** Adds a login, and the plugin with what the login gives it, to an app. */
export type Login = (app: FastifyInstance, sso: LoginSettings, secret: string) => Promise<void>

/** The options of the plugin that do not depend on the login. */
export type LoginSettings = Omit<PartnerSsoOptions<User>, 'currentUser' | 'loginPage'>
