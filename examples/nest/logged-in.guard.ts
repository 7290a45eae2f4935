import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { type FastifyRequest } from 'fastify'
import { Sessions } from './sessions.ts'

const PUBLIC = 'public'

/** Marks what needs no login. */
export const Public = () => SetMetadata(PUBLIC, true)

/** The guard of every controller. It does not run for the routes of the plugin. */
@Injectable()
export class LoggedInGuard implements CanActivate {
  @Inject(Reflector) private readonly reflector!: Reflector
  @Inject(Sessions) private readonly sessions!: Sessions

  canActivate (context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride(PUBLIC, [context.getHandler(), context.getClass()]) === true) return true
    return this.sessions.userOf(context.switchToHttp().getRequest<FastifyRequest>()) !== null
  }
}
