import { users } from './users.ts'
import type { User } from './users.ts'

export const stylesheet = `
:root {
  color-scheme: light dark;
  --line: light-dark(#d9dee7, #39414f); --soft: light-dark(#f4f6fa, #1b2029);
  --accent: light-dark(#0b6b50, #2fb58b); --on-accent: light-dark(#fff, #06231a)
}
* { box-sizing: border-box }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; background: Canvas; color: CanvasText }
header {
  display: flex; gap: .25rem 1rem; align-items: center;
  border-bottom: 1px solid var(--line); padding: .9rem 1.5rem
}
header strong { letter-spacing: -.01em; margin-right: auto; white-space: nowrap }
header span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; opacity: .8 }
@media (max-width: 30rem) { header span { display: none } }
header button { padding: .35rem .8rem; white-space: nowrap }
main > form + :not(form), main > form + form { margin-top: 1.5rem }
main { max-width: 40rem; margin: 0 auto; padding: 3rem 1.5rem }
footer { max-width: 40rem; margin: 0 auto; padding: 0 1.5rem 2rem; font-size: .9rem; opacity: .8 }
@media (max-width: 30rem) { header, main, footer { padding-inline: 1rem } main { padding-block: 1.75rem } }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .5rem }
p { margin: 0 0 1.5rem }
a { color: var(--accent) }
form { margin: 0 }
main > form:not(.users) { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; margin-top: 1rem }
label { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center }
output { font-weight: 600; letter-spacing: .05em }
button, .button {
  display: inline-block; font: inherit; cursor: pointer; padding: .65rem 1.1rem;
  border: 1px solid var(--line); border-radius: .6rem; background: var(--soft); color: inherit; text-decoration: none
}
.button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600 }
.users { display: grid; gap: .75rem }
.users button { width: 100%; text-align: left; padding: .9rem 1.1rem }
.users span { display: block; opacity: .72; font-size: .9rem }
.notice {
  border: 1px solid var(--line); border-left: .3rem solid #c2541d; border-radius: .4rem; padding: .75rem 1rem
}
input {
  font: inherit; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .6rem; background: Canvas;
  color: inherit; max-width: 100%
}
button:hover, .button:hover { filter: brightness(1.06) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`

const roles: Record<User['role'] | 'unknown', string> = {
  owner: 'owner: enters the portal as a partner administrator',
  analyst: 'analyst: enters the portal as a partner user who can only view',
  merchant: 'works for a merchant: enters the portal as a client user who can only view',
  guest: 'guest: may not enter the portal',
  unknown: 'has no account: the login fails'
}

/** The home page, for who is logged in and who is not. */
export function homePage (user: User | null, portalLoginUrl: string): string {
  const button = `<p><a class="button" href="${escape(portalLoginUrl)}">Open the dispute portal</a></p>`
  if (user === null) {
    return page('Acme Payments', `<h1>Acme Payments</h1>${button}<p><a href="login">Log in</a></p>`)
  }
  return page('Acme Payments', `
<h1>Good day, ${escape(user.name)}</h1>
<p>You are logged in at Acme Payments. Disputes are handled in the dispute portal; you need no second password
there.</p>
${button}`, `
<span>${escape(user.name)}</span><form method="post" action="logout"><button>Log out</button></form>`)
}

/** The forms are sent to the URL of their page, and the link leads to /register, with the query of this URL. */
export function loginPage (url: string, isRefused = false): string {
  const [, query] = /(\?.*)/.exec(url) ?? ['', '']
  return page('Log in', `
${loginHeading}
<p class="notice" role="alert"${isRefused ? '' : ' hidden'}>There is no such user.</p>
<form method="post" class="users">
${userButtons}
</form>
<p><a href="register${escape(query)}">Register</a></p>`)
}

export function registerPage (): string {
  return page('Register', `<h1>Register at Acme Payments</h1><form method="post">${registration}</form>`)
}

/** The second page of a login. A real app sends the code to a device of the user; this one shows it. */
export function secondFactorPage (code: string, isRefused = false): string {
  return page('Enter your code', `
<h1>Enter your code</h1>
<p>This demo sends no message. Your code is <output>${escape(code)}</output>.</p>
<p class="notice" role="alert"${isRefused ? '' : ' hidden'}>This is not the code.</p>
<form method="post">
<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
<button>Continue</button>
</form>`)
}

/** A login that a client in the browser controls: it has the forms, and /client.js. */
export function clientPage (): string {
  return page('Log in', `
${loginHeading}
<p class="notice" role="alert" hidden>There is no such user.</p>
<form id="login" class="users">
${userButtons}
</form>
<form id="register">${registration}</form>
${client}`)
}

/** The home page of a client that has a token, or none. */
export function clientHomePage (portalLoginUrl: string): string {
  return page('Acme Payments', `
<h1>Acme Payments</h1>
<p><a class="button" href="${escape(portalLoginUrl)}">Open the dispute portal</a></p>
${client}`, '<button id="logout">Log out</button>')
}

export function refusedPage (): string {
  return page('Login failed', `
<h1>This login failed</h1>
<p>It began in another browser, is over, or was refused.</p>
<p><a class="button" href="/login">Log in</a></p>`)
}

const loginHeading = `<h1>Log in to Acme Payments</h1>
<p>Choose who you are. A real login would ask for a password.</p>`
const stranger = { id: 'u-0', name: 'Somebody else', role: 'unknown' } as const
const userButtons = [...users, stranger].map(userButton).join('\n')
const registration = '<label>Your name <input name="name" required></label> <button>Register</button>'
const client = '<script src="/client.js"></script>'

function userButton ({ id, name, role }: { id: string, name: string, role: User['role'] | 'unknown' }): string {
  return `<button name="user" value="${escape(id)}">${escape(name)}<span>${roles[role]}</span></button>`
}

function page (title: string, main: string, session = ''): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="/style.css">
<header><strong>Acme Payments</strong>${session}</header>
<main>${main}</main>
<footer>This is the demo app of fastify-partner-sso. The company and its people are made up.</footer>
</html>`
}

function escape (text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
