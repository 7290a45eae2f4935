import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Reporter } from '../events.ts'
import type { AccessTokens } from '../grants/access-token.ts'
import type { AuthorizationCodes } from '../grants/authorization-code.ts'
import type { PageRefusal } from '../http/error-page.ts'
import type { LoginPageOption } from '../http/login-location.ts'
import type { ReturnCookie } from '../http/return-cookie.ts'
import type { Portals } from '../portal/portals.ts'
import type { PortalInformation } from '../portal/registered-portal.ts'

/** What the routes of one registration work with. The last five are options of the plugin. */
export interface Parts {
  portals: Portals
  codes: AuthorizationCodes
  tokens: AccessTokens
  reporter: Reporter
  returnCookie: ReturnCookie
  /** Milliseconds that the store calls of one request may take together. */
  storeTimeout: number
  currentUser: (request: FastifyRequest, reply: FastifyReply) => unknown
  portalEligibility: (
    user: any, context: { portal: PortalInformation, request: FastifyRequest, reply: FastifyReply }
  ) => unknown
  loginPage?: LoginPageOption | undefined
  errorPage?: ((refusal: PageRefusal, request: FastifyRequest, reply: FastifyReply) => unknown) | undefined
}
