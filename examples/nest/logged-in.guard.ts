import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { type FastifyRequest } from 'fastify'
import { currentUser, isFromOtherSite } from '../logins/sessions.ts'

const PUBLIC = 'public'

/** Marks what needs no login. */
export const Public = () => SetMetadata(PUBLIC, true)

/** The guard of every controller. It does not run for the routes of the plugin. */
@Injectable()
export class LoggedInGuard implements CanActivate {
  @Inject(Reflector) private readonly reflector!: Reflector

  canActivate (context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>()
    if (request.method === 'POST' && isFromOtherSite(request)) return false
    if (this.reflector.getAllAndOverride(PUBLIC, [context.getHandler(), context.getClass()]) === true) return true
    return currentUser(request) !== null
  }
}
