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
main { max-width: 40rem; margin: 0 auto; padding: 3rem 1.5rem }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .5rem }
p { margin: 0 0 1.5rem }
a { color: var(--accent) }
form { margin: 0 }
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
button:hover, .button:hover { filter: brightness(1.06) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`

const roles: Record<User['role'], string> = {
  owner: 'owner: enters the portal as partner administrator',
  analyst: 'analyst: enters the portal as partner user who can only view',
  merchant: 'works for a merchant: enters the portal as client user who can only view',
  guest: 'guest: may not enter the portal'
}

export function homePage (user: User, portalLoginUrl: string): string {
  return page('Acme Payments', user, `
<h1>Good day, ${escape(user.name)}</h1>
<p>You are logged in at Acme Payments. Disputes are handled in the dispute portal; you need no second password
there.</p>
<p><a class="button" href="${escape(portalLoginUrl)}">Open the dispute portal</a></p>
<p><a href="/login">Log in as someone else</a></p>`)
}

/** A page that leads to the portal, for who is logged in and who is not. */
export function startPage (portalLoginUrl: string): string {
  return page('Acme Payments', null, `
<h1>Acme Payments</h1>
<p><a class="button" href="${escape(portalLoginUrl)}">Open the dispute portal</a></p>`)
}

/** A single-page client with a login. Its script has the function `logIn (user)`. */
export function clientPage (script: string): string {
  const buttons = users.map(({ id, name }) => `<button onclick="logIn('${escape(id)}')">${escape(name)}</button>`)
  return page('Log in', null, `
<h1>Log in to Acme Payments</h1>
<div class="users">${buttons.join('\n')}</div>
<script>${script}</script>`)
}

/** The form is sent to the URL of the page, with the `return_to` that it may have. */
export function loginPage (users: User[], refused = false): string {
  return page('Log in', null, `
<h1>Log in to Acme Payments</h1>
${refused ? '<p class="notice" role="alert">There is no such user.</p>' : ''}
<p>These people are made up; choose who you are.</p>
<form method="post" class="users">
${users.map(userButton).join('\n')}
</form>`)
}

function userButton ({ id, name, role }: User): string {
  return `<button name="user" value="${escape(id)}">${escape(name)}<span>${roles[role]}</span></button>`
}

function page (title: string, user: User | null, main: string): string {
  const session = user === null
    ? ''
    : `<span>${escape(user.name)}</span><form method="post" action="/logout"><button>Log out</button></form>`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="/style.css">
<header><strong>Acme Payments</strong>${session}</header>
<main>${main}</main>
</html>`
}

function escape (text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
