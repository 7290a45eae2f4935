// Two pages of the partner's own, by @fastify/view, in its language and look: for a user who may not enter the portal,
// and for a sign-in that cannot go back to it. For pages in German, translate the two templates and set lang="de" in
// them; for several languages, choose the template by the request's Accept-Language.
// From a clone, with a portal beside it: npm run ready && node examples/dist/demo.js own-pages
import view from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance } from 'fastify'
import type { PartnerSsoOptions, UserInformation } from 'fastify-partner-sso'
import { portalRecord } from './users.ts'
import type { User } from './users.ts'

/** Eta escapes what it inserts. */
export function addTemplates (app: FastifyInstance): void {
  app.register(view, { engine: { eta: new Eta() }, templates: 'examples/templates' })
}

export const ownPages: Pick<PartnerSsoOptions<User>, 'portalEligibility' | 'errorPage'> = {
  portalEligibility (user, { reply }) {
    const record: UserInformation | null = portalRecord(user)
    return record ?? reply.code(403).view('not-eligible.eta', { name: user.name, contact: 'team@partner.example' })
  },

  // The text of a refusal is for developers. A person needs to know what to do; the identifier leads to the log line.
  errorPage: async ({ loginUrl, requestId }, _request, reply) =>
    await reply.viewAsync('error.eta', { loginUrl, requestId })
}
