import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import { type FastifyAdapter } from '@nestjs/platform-fastify'
import { Public } from './logged-in.guard.ts'

@Controller('ready')
export class ReadinessController {
  @Inject(HttpAdapterHost) private readonly host!: HttpAdapterHost<FastifyAdapter>

  /** Whether sign-ins can be served: the plugin is at the Fastify of the adapter. */
  @Public()
  @Get()
  async ready (): Promise<object> {
    if (!await this.host.httpAdapter.getInstance().partnerSso.ready()) throw new ServiceUnavailableException()
    return { ready: true }
  }
}
