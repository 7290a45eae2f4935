import { Body, Controller, Get, Header, Post, Query, Req, Res } from '@nestjs/common'
import { type FastifyReply, type FastifyRequest } from 'fastify'
import { currentUser, html, logIn } from '../logins/sessions.ts'
import { homePage, loginPage, registerPage, stylesheet } from '../pages.ts'
import { portal } from '../portal.ts'
import { addUser, type User, userWith } from '../users.ts'
import { Public } from './logged-in.guard.ts'

@Controller()
export class PagesController {
  @Public()
  @Get()
  home (@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    html(reply, homePage(currentUser(request), portal.loginUrl))
  }

  /** Not public: the guard lets in who is logged in. */
  @Get('account')
  account (@Req() request: FastifyRequest): User | null {
    return currentUser(request)
  }

  @Public()
  @Get('style.css')
  @Header('content-type', 'text/css')
  style (): string {
    return stylesheet
  }

  @Public()
  @Get('login')
  loginForm (
    @Query('return_to') given: string | undefined, @Req() request: FastifyRequest, @Res() reply: FastifyReply
  ): void {
    // A login that the portal did not begin says so: it must not lead to a sign-in that was given up.
    if (given === undefined) reply.redirect('/login?return_to=/', 302)
    else if (currentUser(request) !== null) reply.redirect(returnTo(request, reply), 302)
    else html(reply, loginPage(request.originalUrl))
  }

  @Public()
  @Post('login')
  async login (@Body() body: Form, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const user = userWith(body?.user)
    if (user === null) html(reply.code(400), loginPage(request.originalUrl, true))
    else await goOn(user, request, reply)
  }

  @Public()
  @Get('register')
  registerForm (@Res() reply: FastifyReply): void {
    html(reply, registerPage())
  }

  @Public()
  @Post('register')
  async register (@Body() body: Form, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await goOn(addUser(body?.name ?? ''), request, reply)
  }

  @Public()
  @Post('logout')
  async logout (@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await request.session.destroy()
    reply.redirect('/', 303)
  }
}

type Form = { user?: string, name?: string } | undefined

async function goOn (user: User, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await logIn(request, user)
  reply.redirect(returnTo(request, reply), 303)
}

function returnTo (request: FastifyRequest, reply: FastifyReply): string {
  return request.server.partnerSso.returnTo(request, reply) ?? '/'
}
