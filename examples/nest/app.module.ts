import { Module } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { LoggedInGuard } from './logged-in.guard.js'
import { PagesController } from './pages.controller.js'
import { ReadinessController } from './readiness.controller.js'
import { Sessions } from './sessions.js'

@Module({
  controllers: [PagesController, ReadinessController],
  providers: [Sessions, { provide: APP_GUARD, useClass: LoggedInGuard }]
})
export class AppModule {}
