import { Body, Controller, Get, Header, Inject, Post, Req, Res } from '@nestjs/common'
import { type FastifyReply, type FastifyRequest } from 'fastify'
import { homePage, loginPage, stylesheet } from '../pages.ts'
import { portal } from '../portal.ts'
import { type User, users } from '../users.ts'
import { Public } from './logged-in.guard.ts'
import { Sessions } from './sessions.ts'

const HTML = 'text/html; charset=utf-8'

@Controller()
export class PagesController {
  @Inject(Sessions) private readonly sessions!: Sessions

  @Public()
  @Get()
  home (@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const user = this.sessions.userOf(request)
    if (user === null) reply.redirect('/login', 302)
    else reply.type(HTML).send(homePage(user, portal.loginUrl))
  }

  /** Not public: the guard lets in who is logged in. */
  @Get('account')
  account (@Req() request: FastifyRequest): User | null {
    return this.sessions.userOf(request)
  }

  @Public()
  @Get('style.css')
  @Header('content-type', 'text/css')
  style (): string {
    return stylesheet
  }

  @Public()
  @Get('login')
  @Header('content-type', HTML)
  loginForm (): string {
    return loginPage(users)
  }

  @Public()
  @Post('login')
  login (
    @Body() body: { user?: string } | undefined, @Req() request: FastifyRequest, @Res() reply: FastifyReply
  ): void {
    const user = users.find(({ id }) => id === body?.user)
    if (user === undefined) {
      reply.code(400).type(HTML).send(loginPage(users, true))
      return
    }
    this.sessions.start(reply, user)
    reply.redirect(request.server.partnerSso.returnTo(request, reply) ?? '/', 303)
  }

  @Public()
  @Post('logout')
  logout (@Res() reply: FastifyReply): void {
    this.sessions.end(reply)
    reply.redirect('/login', 303)
  }
}
