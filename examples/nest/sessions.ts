import { Injectable } from '@nestjs/common'
import { type FastifyReply, type FastifyRequest } from 'fastify'
import { type User, users } from '../users.ts'

/** The login of the app: the id of the user in a signed cookie. */
@Injectable()
export class Sessions {
  userOf (request: FastifyRequest): User | null {
    const { valid, value } = request.unsignCookie(request.cookies.acme_session ?? '')
    return (valid && users.find(({ id }) => id === value)) || null
  }

  start (reply: FastifyReply, { id }: User): void {
    // Lax, not Strict: the portal redirects the browser here from another site, and the session must be sent.
    reply.setCookie('acme_session', id, { path: '/', httpOnly: true, sameSite: 'lax', signed: true })
  }

  end (reply: FastifyReply): void {
    reply.clearCookie('acme_session', { path: '/' })
  }
}
