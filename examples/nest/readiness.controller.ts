import { setTimeout as wait } from 'node:timers/promises'
import { Controller, Get, ServiceUnavailableException, type BeforeApplicationShutdown } from '@nestjs/common'
import { Public } from './logged-in.guard.ts'

/** GET /ready for the load balancer: 503 once the app stops. Why not while the store is lost: ../readiness.ts. */
@Controller('ready')
export class ReadinessController implements BeforeApplicationShutdown {
  #isStopping = false

  @Public()
  @Get()
  ready (): object {
    if (this.#isStopping) throw new ServiceUnavailableException()
    return { ready: true }
  }

  /** Nest waits for this, still serving, before it closes the app (`enableShutdownHooks`). */
  async beforeApplicationShutdown (): Promise<void> {
    this.#isStopping = true
    await wait(Number(process.env.NOTICE ?? 15_000))
  }
}
