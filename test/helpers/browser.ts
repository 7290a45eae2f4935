import { setTimeout as wait } from 'node:timers/promises'

export interface Page { url: string, text: string }

/**
 * A browser that keeps cookies for each host name, follows redirects, and reloads a sign-in until it has ended. It does
 * not open URLs that begin with `unopened`, and returns where it would have gone.
 */
export function browser (unopened?: string): (url: string, form?: Record<string, string>) => Promise<Page> {
  const jar = new Map<string, Map<string, string>>()
  const visit = async (url: string, form?: Record<string, string>): Promise<Page> => {
    const { hostname } = new URL(url)
    const cookies = jar.get(hostname) ?? new Map<string, string>()
    jar.set(hostname, cookies)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form && { method: 'POST', body: new URLSearchParams(form) }
    const response = await fetch(url, { ...body, redirect: 'manual', headers: { cookie, accept: 'text/html' } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (unopened !== undefined && location?.startsWith(unopened)) return { url: location, text: '' }
    if (location !== null) return await visit(new URL(location, url).href)
    const text = await response.text()
    if (!text.includes('data-ended="false"')) return { url, text }
    await wait(100)
    return await visit(url)
  }
  return visit
}
