import type { FastifyInstance } from 'fastify'
import type { ReturnCookie, ReturningReply, ReturningRequest } from './http/return-cookie.ts'

/**
 * What the plugin adds to the app that registers it, as `app.partnerSso`. Where the plugin is registered several times
 * on an app, and on scopes inside it, the decorator serves all of these registrations.
 */
export interface PartnerSsoDecorator {
  /**
   * Tells whether sign-ins can be served now, for a readiness route: it stores a value in the store of each
   * registration and takes it back.
   *
   * @returns true where every store returned the value. It takes at most `storeTimeout`, and never rejects
   *
   * @example
   *
   * ```ts
   * app.get('/ready', async (request, reply) => reply.code(await app.partnerSso.ready() ? 200 : 503).send())
   * ```
   */
  ready (): Promise<boolean>

  /**
   * Finds out where to redirect a user who has just logged in. Call it once, before the reply is sent, because it
   * removes the cookie that remembers the authorization request.
   *
   * - Where this request has the parameter `return_to`, it is that URL if it leads to an authorization endpoint of this
   *   app, and null if it leads anywhere else, since the login then began elsewhere in the app.
   * - Where there is no `return_to`, it is the URL of the authorization request that the cookie remembers. The cookie
   *   lasts for ten minutes.
   *
   * Whatever the browser sent, the URL is that of an authorization endpoint of this app. You need not check it.
   *
   * @param request - the request with which the login ends, of Fastify, Express or Node.js
   * @param reply - the reply to it, of Fastify, Express or Node.js
   * @returns path and query of the authorization request that led to the login, or null where there was none
   *
   * @example
   *
   * ```ts
   * return reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/')
   * ```
   */
  returnTo (request: ReturningRequest, reply: ReturningReply): string | null
}

declare module 'fastify' {
  interface FastifyInstance {
    partnerSso: PartnerSsoDecorator
  }
}

/** What `app.partnerSso` needs to know about one registration of the plugin. */
export interface Registration {
  isReady: () => Promise<boolean>
  returnCookie: ReturnCookie
}

/**
 * The decorator of an app. Its methods are properties, so that a host can take them off: `const { ready } =
 * app.partnerSso`.
 */
export class Decorator implements PartnerSsoDecorator {
  readonly #registrations: Registration[] = []

  /**
   * Adds a registration to the decorator of an app. The first registration creates the decorator. A scope shares the
   * decorator of the app around it.
   */
  static add (app: FastifyInstance, registration: Registration): void {
    if (!(app.partnerSso instanceof Decorator)) app.decorate('partnerSso', new Decorator())
    const decorator = app.partnerSso as Decorator
    decorator.#registrations.push(registration)
  }

  readonly ready = async (): Promise<boolean> => {
    const outcomes = await Promise.all(this.#registrations.map(({ isReady }) => isReady()))
    return outcomes.every(Boolean)
  }

  /** Asks every registration, because each removes its own cookie. */
  readonly returnTo = (request: ReturningRequest, reply: ReturningReply): string | null => {
    const urls = this.#registrations.map(({ returnCookie }) => returnCookie.returnUrl(request, reply))
    return urls.find((url) => url !== null) ?? null
  }
}
