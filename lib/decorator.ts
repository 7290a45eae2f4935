import type { FastifyInstance } from 'fastify'
import type { ReturnCookie, ReturningReply, ReturningRequest } from './http/return-cookie.ts'

/** What the plugin adds to the app that registers it, as `app.partnerSso`. */
export interface PartnerSsoDecorator {
  /**
   * Whether sign-ins can be served now: the store of each registration on this app has stored a value and returned it.
   * Takes `storeTimeout` at most and never rejects. For a readiness route.
   */
  ready (): Promise<boolean>

  /**
   * Where to redirect a user who has just logged in: the path and query of the authorization request that led to the
   * login, or null. It is `return_to` of this request; null where that is anything but an authorization request; where
   * there is none, it is the request of the last ten minutes that the cookie has. Removes the cookie: call it once,
   * before the reply is sent. The path is always that of an authorization endpoint of this app, whatever the browser
   * sent: it needs no check of yours.
   *
   * Takes the request and reply of Fastify, or those of Node or Express.
   */
  returnTo (request: ReturningRequest, reply: ReturningReply): string | null
}

declare module 'fastify' {
  interface FastifyInstance {
    partnerSso: PartnerSsoDecorator
  }
}

/** What `app.partnerSso` needs of one registration of the plugin. */
export interface Registration {
  isReady: () => Promise<boolean>
  returnCookie: ReturnCookie
}

const registrations = new WeakMap<PartnerSsoDecorator, Registration[]>()

/** Adds a registration to the app's decorator, which the first one creates. Child scopes share the decorator. */
export function addRegistration (app: FastifyInstance, registration: Registration): void {
  const list = registrations.get(app.partnerSso) ?? []
  list.push(registration)
  if (list.length > 1) return
  const decorator: PartnerSsoDecorator = {
    ready: async () => (await Promise.all(list.map(({ isReady }) => isReady()))).every(Boolean),
    returnTo: (request, reply) =>
      list.map(({ returnCookie }) => returnCookie.returnUrl(request, reply)).find((url) => url !== null) ?? null
  }
  registrations.set(decorator, list)
  app.decorate('partnerSso', decorator)
}
