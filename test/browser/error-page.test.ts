// The page of the plugin for a person whose sign-in cannot go back to the portal: nothing loads, nothing executes.
import t from 'tap'
import { startScene } from './helpers/scene.ts'
import { arrives, heading, logIn, outcome, reported, tabTo } from './helpers/walk.ts'

const { partner, portal, visit } = await startScene(t)
const SCRIPT = '"><script>document.title = "executed"</script><img src=x onerror="document.title = \'executed\'">'
const authorize = (changes: Record<string, string>) => `${partner}/oauth/authorize?${new URLSearchParams({
  client_id: 'acme-payments',
  redirect_uri: `${portal}/oauth/callback`,
  response_type: 'code',
  state: 'a-state',
  ...changes
})}`

for (const [name, changes] of Object.entries({
  'a redirect_uri that is not registered': { redirect_uri: 'https://foreign.example/callback' },
  'a redirect_uri that is a script': { redirect_uri: 'javascript:document.title="executed"' },
  'markup in every parameter': {
    client_id: SCRIPT, redirect_uri: SCRIPT, state: SCRIPT, scope: SCRIPT, response_type: SCRIPT
  },
  'an unknown client_id': { client_id: 'somebody' }
})) {
  await visit(name, async (t, { page, requests, problems }) => {
    const url = authorize(changes)
    const response = await page.goto(url, { waitUntil: 'networkidle' })
    t.equal(response?.status(), 400)
    t.equal(await heading(page), 'This sign-in cannot go on')
    t.equal(await page.title(), 'Sign-in not possible')
    t.strictSame(requests, [url], 'the page is the only thing that was asked for')
    t.equal(await page.locator('script, img, iframe, form, link').count(), 0)
    const background = await page.getByRole('link').evaluate((link) => getComputedStyle(link).backgroundColor)
    t.not(background, 'rgba(0, 0, 0, 0)', 'its own style is allowed')
    t.match(await reported(problems), [/status of 400/])

    await page.getByRole('link', { name: 'Start again' }).click()
    await logIn(page, 'Ada Okafor')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
  })
}

await visit('even what gets into the page does not run, and does not load', async (t, { page, problems }) => {
  await page.goto(authorize({ client_id: 'somebody' }))
  t.match(await reported(problems), [/status of 400/])
  const loaded: string[] = []
  page.on('requestfinished', (request) => loaded.push(request.url()))
  const blocked = await page.evaluate(async () => {
    const found: string[] = []
    const all = new Promise<void>((resolve) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        if (found.push(effectiveDirective) === 5) resolve()
      })
    })
    const script = document.createElement('script')
    script.textContent = 'document.title = "executed"'
    document.body.append(script)
    document.body.insertAdjacentHTML('beforeend', '<img src="/a.png"><style>h1 { display: none }</style>' +
      '<iframe src="/b"></iframe><p onclick="document.title = \'executed\'">')
    document.querySelector<HTMLElement>('p[onclick]')?.click()
    await all
    return found.sort()
  })
  t.strictSame(blocked, ['frame-src', 'img-src', 'script-src-attr', 'script-src-elem', 'style-src-elem'])
  t.equal(await page.title(), 'Sign-in not possible')
  t.strictSame(loaded, [])
  t.ok(await page.locator('h1').isVisible())
  const said = await reported(problems, 5)
  t.ok(said.length > 0 && said.every((problem) => problem.includes('Content Security Policy')), said.join())
})

await visit('by keyboard', async (t, { page, problems }) => {
  await page.goto(authorize({ client_id: 'somebody' }))
  t.match(await reported(problems), [/status of 400/])
  t.equal(await tabTo(page, 'Start again'), 1, 'the first stop')
  await page.keyboard.press('Enter')
  await arrives(t, page, 'Log in to Acme Payments')
})
