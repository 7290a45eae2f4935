import { Module } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { LoggedInGuard } from './logged-in.guard.ts'
import { PagesController } from './pages.controller.ts'
import { ReadinessController } from './readiness.controller.ts'

@Module({
  controllers: [PagesController, ReadinessController],
  providers: [{ provide: APP_GUARD, useClass: LoggedInGuard }]
})
export class AppModule {}
