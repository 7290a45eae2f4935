import { setTimeout as sleep } from 'node:timers/promises'

export interface Page { url: string, status: number, text: string, headers: Headers }

/**
 * A browser without JavaScript, for tests of what servers send: it keeps cookies by name, whatever the host. What only
 * a real browser decides (cookies by site, security policies, looks) is tested in Chromium, in test/browser.
 */
export class Browser {
  readonly cookies = new Map<string, string>()

  /** Opens an address and follows no redirect. */
  async fetch (url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, accept: 'text/html', ...init.headers as Record<string, string> }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.cookies.set(name, value)
    }
    return response
  }

  /** Opens an address and follows redirects. */
  async open (url: string, init?: RequestInit): Promise<Page> {
    const response = await this.fetch(url, init)
    const location = response.headers.get('location')
    if (location !== null) return await this.open(new URL(location, url).href)
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Starts a sign-in or a trial, or continues it, until it has ended. */
  async signIn (url: string, init?: RequestInit): Promise<Page> {
    return await this.ended(await this.open(url, init))
  }

  /** Continues a sign-in by the form of a login page. */
  async submit (url: string, fields: Record<string, string>): Promise<Page> {
    return await this.signIn(url, { method: 'POST', body: new URLSearchParams(fields) })
  }

  /** Opens the page of a sign-in in progress again, until it has ended. */
  async ended (page: Page): Promise<Page> {
    if (!page.text.includes('http-equiv="refresh"')) return page
    await sleep(20)
    return await this.signIn(page.url)
  }
}
