// The host has a Content-Security-Policy of its own, as @fastify/helmet sets it. The plugin's own responses have the
// plugin's policy instead; on those that the host makes, the plugin's stands beside the host's, also where the host's
// only looks like it: a browser applies all policies of a response.
import type { onSendAsyncHookHandler } from 'fastify'
import t from 'tap'
import { personOf, startApp } from '../app.ts'
import { inProcess } from '../wire.ts'

const OURS = "frame-ancestors 'none'"

/** What the host sets, and what the browser gets on a page of the host. */
const policies: Record<string, [ofHost: string | string[], sent: string]> = {
  none: ['', OURS],
  other: ["default-src 'self'", `default-src 'self', ${OURS}`],
  same: [OURS, OURS],
  'same among others': [["default-src 'self'", OURS], `default-src 'self', ${OURS}`],
  wider: ["frame-ancestors 'none' https://x.example", `frame-ancestors 'none' https://x.example, ${OURS}`],
  'wider, of the same end': ["x-frame-ancestors 'none'", `x-frame-ancestors 'none', ${OURS}`],
  'wider, and more': [
    'frame-ancestors https://x.example; sandbox', `frame-ancestors https://x.example; sandbox, ${OURS}`
  ],
  'two policies': [["default-src 'self'", 'sandbox'], `default-src 'self', sandbox, ${OURS}`],
  'two policies in one header': ["default-src 'self', sandbox", `default-src 'self', sandbox, ${OURS}`]
}

for (const [name, [ofHost, sent]] of Object.entries(policies)) {
  t.test(name, async (t) => {
    const { app } = await startApp(t, {
      options: {
        currentUser: (request, reply) => personOf(request) ?? reply.type('text/html').send('<p>Mine')
      },
      prepare: (app) => app.addHook('onSend', async (_request, reply) => {
        if (ofHost !== '') reply.header('content-security-policy', ofHost)
      })
    })
    const portal = inProcess(app)
    t.equal((await portal.authorize({}, null)).headers.get('content-security-policy'), sent, 'a page of the host')
    const code = await portal.authorize()
    t.equal(code.headers.get('content-security-policy'), OURS, 'a redirect of the plugin')
  })
}

t.test('a hook that the host adds to each route, after the hooks of the route, changes nothing', async (t) => {
  const { app } = await startApp(t, {
    prepare: (app) => app.addHook('onRoute', (route) => {
      const open: onSendAsyncHookHandler = async (_request, reply) => {
        reply.headers({ 'cache-control': 'public', 'content-security-policy': 'sandbox' })
      }
      route.onSend = [route.onSend ?? [], open].flat()
    })
  })
  const { headers } = await inProcess(app).authorize()
  t.strictSame([headers.get('cache-control'), headers.get('content-security-policy')], ['no-store', OURS])
})
