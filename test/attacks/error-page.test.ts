// Someone sends a user to a link whose parameters and headers hold scripts, hoping that the error page shows them: in
// the partner's own origin, where the user is logged in. The page holds nothing of the request, and in a real browser
// nothing runs and nothing loads.
// Alone: it takes long.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say } from './helpers/raw.ts'

const payloads = [
  '<script>alert(1)</script>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '<svg/onload=alert(1)>',
  '</style><script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '<!--<script>alert(1)//-->',
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<body onload=alert(1)>',
  '<base href=//evil.example/>',
  '<meta http-equiv=refresh content="0;url=//evil.example/">',
  '<link rel=stylesheet href=//evil.example/x.css>',
  '<a href="javascript:alert(1)">x</a>',
  '<form action=//evil.example><input autofocus onfocus=alert(1)>',
  '<object data="data:text/html,<script>alert(1)</script>">',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  '$' + '{alert(1)}',
  '`;alert(1)//',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u003cscript\u003ealert(1)\u003c/script\u003e',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '\u0000<script>alert(1)</script>',
  '＜script＞alert(1)＜/script＞',
  '<scr\u0000ipt>alert(1)</scr\u0000ipt>',
  ']]><script>alert(1)</script>',
  '<style>@import "//evil.example/x.css";</style>',
  '<img src="//evil.example/x.png">',
  '<details open ontoggle=alert(1)>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>'
]

// Runs in the browser.
const LOOK = `({
  scripts: document.scripts.length,
  elements: document.querySelectorAll(
    'img, iframe, object, embed, base, form, link, meta[http-equiv], svg, details, input'
  ).length,
  links: [...document.links].map(({ href }) => href)
})`

const names = [
  'client_id',
  'redirect_uri',
  'state',
  'response_type',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'error',
  'error_description',
  'login_url'
]

/** What a link cannot set, but a proxy, an extension or another machine can. */
const headers = [
  'x-user',
  'user-agent',
  'accept-language',
  'x-forwarded-host',
  'x-forwarded-for',
  'x-forwarded-proto',
  'forwarded',
  'origin',
  'x-request-id',
  'cookie'
]

await t.test('the page is the same, byte by byte, whatever is asked', async (t) => {
  const { url, events } = await startHost(t)
  const pages = new Map<string, Set<string>>()
  const ask = async (query: string, headers: string[] = []) => {
    const { text } = await say(url, request(`GET /oauth/authorize?${query}`, ['Accept: text/html', ...headers]))
    const [head, body] = text.split('\r\n\r\n', 2) as [string, string]
    const reason = events.at(-1)?.reason as string
    if (
      /^location/im.test(head) ||
      !/^content-type: text\/html; charset=utf-8$/im.test(head) ||
      !/^content-security-policy: default-src 'none'; /im.test(head)
    ) { t.fail(head) }
    pages.set(reason, (pages.get(reason) ?? new Set()).add(body))
  }
  for (const payload of payloads) {
    for (const name of names) {
      await ask(
        new URLSearchParams({
          client_id: PORTAL.clientId,
          [name]: payload,
          ...(name === 'redirect_uri' ? {} : { redirect_uri: 'https://evil.example' })
        }).toString()
      )
    }
    await ask(`client_id=${payload.replaceAll(/[^\x21-\x7e]/g, '')}&${payload.replaceAll(/[^\x21-\x7e]/g, '')}=x`)
    const encoded = encodeURIComponent(payload)
    await ask(`client_id=${encoded}&client_id=${PORTAL.clientId}`)
    await ask(`client_id=${PORTAL.clientId}&state=${encoded}`)
    await ask(`client_id=${PORTAL.clientId}&redirect_uri=${encoded}&redirect_uri=${encoded}`)
    const plain = payload.replaceAll(/[^\x20-\x7e]/g, '')
    await ask('', [
      `User-Agent: ${plain}`,
      `Referer: ${plain}`,
      `Cookie: ${plain}`,
      `X-Forwarded-Host: ${plain}`,
      `Accept-Language: ${plain}`,
      `Origin: ${plain}`,
      `X-User: ${plain}`
    ])
  }
  t.strictSame([...pages.keys()].sort(), [
    'client_id_missing',
    'client_id_repeated',
    'client_id_unknown',
    'redirect_uri_missing',
    'redirect_uri_repeated',
    'redirect_uri_unregistered'
  ])
  for (const [reason, bodies] of pages) t.equal(bodies.size, 1, `one page says: ${reason}`)
})

await t.test('in Chromium nothing runs, nothing loads and nothing leads away', async (t) => {
  const sent: unknown[][] = []
  const { url, events } = await startHost(
    t,
    {},
    {
      prepare: (app) =>
        app.addHook('onRequest', async (request) => {
          sent.push(headers.map((name) => request.headers[name]))
        })
    }
  )
  const profile = await mkdtemp(join(tmpdir(), 'partner-sso-chromium-'))
  const executablePath = process.env.CHROMIUM ?? await findOnPath('chromium')
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync'
    ]
  })
  t.teardown(async () => {
    await browser.close()
    await rm(profile, { recursive: true, force: true })
  })
  const page = browser.pages()[0] ?? await browser.newPage()
  const happened: string[] = []
  page.on('dialog', (dialog) => {
    happened.push(`dialog ${dialog.message()}`)
    dialog.dismiss().catch(() => {})
  })
  page.on('console', (message) => {
    // Chromium's own remark on the status of the page.
    if (!message.text().includes('status of 400')) happened.push(`console ${message.text()}`)
  })
  page.on('pageerror', (error) => { happened.push(`error ${error.message}`) })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/oauth/authorize`)) happened.push(`request ${request.url()}`)
  })

  const reasons = new Set<string | undefined>()
  for (const [index, payload] of payloads.entries()) {
    const visible = payload.replaceAll(/[^\x20-\x7e]/g, '')
    await page.setExtraHTTPHeaders(Object.fromEntries(headers.map((name) => [name, visible])))
    const look = async (query: URLSearchParams) => {
      sent.length = 0
      // A Referer that is no URL is dropped by the browser.
      const response = await page.goto(
        `${url}/oauth/authorize?${query.toString()}#${payload.replaceAll('\u0000', '')}`,
        { referer: `${url}/${encodeURIComponent(payload)}` }
      )
      reasons.add(events.at(-1)?.reason)
      const what = `${events.at(-1)?.reason}, ${encodeURIComponent(payload)}`
      t.equal(response?.status(), 400, what)
      t.equal(new URL(page.url()).origin, url, 'still here')
      t.strictSame(await page.evaluate(LOOK), { scripts: 0, elements: 0, links: [PORTAL.loginUrl] }, what)
      t.strictSame(sent[0], headers.map(() => visible), 'the headers came as they are')
    }
    // In all parameters at once, as the name of one, and in one or another while the rest is good: a page for each
    // refusal. That every payload in every parameter yields this same page is shown above, without a browser.
    await look(new URLSearchParams(names.map((name) => [name, payload])))
    await look(new URLSearchParams([[payload, payload]]))
    await look(new URLSearchParams([['client_id', payload], ['client_id', payload]]))
    const name = names[index % names.length] as string
    if (name !== 'redirect_uri') await look(new URLSearchParams({ client_id: PORTAL.clientId, [name]: payload }))
    await look(new URLSearchParams({ client_id: PORTAL.clientId, redirect_uri: payload, [name]: payload }))
    const twice = [['redirect_uri', payload], ['redirect_uri', payload]]
    await look(new URLSearchParams([['client_id', PORTAL.clientId], ...twice]))
  }
  t.strictSame(
    [...reasons].sort(),
    [
      'client_id_missing',
      'client_id_repeated',
      'client_id_unknown',
      'redirect_uri_missing',
      'redirect_uri_repeated',
      'redirect_uri_unregistered'
    ],
    'every page there is'
  )
  t.strictSame(happened, [], 'no dialog, no message, no error, no request')
  t.equal(
    await page.evaluate('getComputedStyle(document.querySelector("h1")).fontSize'),
    '24px',
    "the page's own style got past its policy"
  )

  await page.evaluate(
    'const script = document.createElement("script"); script.textContent = "window.ran = true"; ' +
      'document.head.append(script)'
  )
  t.equal(await page.evaluate('window.ran === true'), false, 'and a script that got into the page would not run')
  t.match(
    happened.join('\n'),
    /console .*script-src|Content Security Policy/i,
    'the browser says why: so these listeners do hear'
  )
})

await t.test('no other site can frame it', async (t) => {
  const { url } = await startHost(t)
  const portal = wire(url)
  for (const { headers } of [
    await portal.authorize({ client_id: 'x' }, 'alice', { accept: 'text/html' }),
    await portal.authorize({ client_id: 'x' }),
    await portal.authorize()
  ]) {
    t.equal(headers.get('x-frame-options'), 'DENY')
    t.match(headers.get('content-security-policy'), /frame-ancestors 'none'/)
    t.equal(headers.get('referrer-policy'), 'no-referrer')
  }
})

async function findOnPath (name: string): Promise<string> {
  const { access } = await import('node:fs/promises')
  for (const directory of (process.env.PATH as string).split(':')) {
    const path = join(directory, name)
    if (await access(path).then(() => true, () => false)) return path
  }
  throw new Error(`${name} is needed on PATH: apt-get install ${name}`)
}
