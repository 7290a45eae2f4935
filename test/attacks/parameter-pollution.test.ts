// Someone sends a parameter twice, or in a second place, hoping that a gateway, the framework and the service each take
// another one: a redirect_uri that was checked and one that is used, a client that was authenticated and one that is
// named. A parameter that comes twice is refused; a name that is not the name exactly is another parameter.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { BASIC, request, say, tokenRequest } from './helpers/raw.ts'

const good = {
  client_id: PORTAL.clientId,
  client_secret: PORTAL.clientSecret,
  redirect_uri: PORTAL.redirectUri,
  grant_type: 'authorization_code'
}
const encode = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()

/** Ways to write a name that some parser may take for the name itself. */
const aliases = (name: string): string[] =>
  [
    `${name}[]`,
    `${name}[0]`,
    `${name}[a]`,
    `${name}%00`,
    `%20${name}`,
    `${name}%20`,
    `+${name}`,
    `${name}+`,
    name.toUpperCase(),
    name.replace('_', '-'),
    name.replace('_', '.'),
    name.replace('_', '%C2%A0'),
    name.replace('_', '＿'),
    `${name};`,
    `;${name}`,
    `${name}%0a`,
    `%EF%BB%BF${name}`,
    name.replace('c', '%D1%81'),
    `%2561${name}`,
    `${name}%26`,
    `${name}\u200b`.replace('\u200b', '%E2%80%8B'),
    `.${name}`,
    `?${name}`
  ].filter((alias) => alias !== name)

await t.test('at the token endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const form = encode({ ...good, code })
  const refused = async (body: string, reason: string, status = 400, headers: string[] = []) => {
    const { statuses } = await say(url, tokenRequest(body, headers))
    t.strictSame(statuses, [status], body.slice(-60))
    t.equal(events.at(-1)?.reason, reason)
  }

  for (const name of [...Object.keys(good), 'code', 'scope', 'unknown']) {
    const value = (good as Record<string, string>)[name] ?? 'x'
    const present = form.includes(`${name}=`) ? form : `${form}&${name}=${value}`
    for (const second of [
      `${name}=${encodeURIComponent(value)}`,
      `${name}=evil`,
      `${name}=`,
      name,
      name.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`) + '=evil'
    ]) {
      await refused(`${present}&${second}`, 'parameter_repeated')
      await refused(`${second}&${present}`, 'parameter_repeated')
    }
  }
  for (const name of [...Object.keys(good), 'code']) {
    const rest = new URLSearchParams(form)
    const value = rest.get(name) as string
    rest.delete(name)
    for (const alias of aliases(name)) {
      await refused(`${rest.toString()}&${alias}=${encodeURIComponent(value)}`, `${name}_missing`)
    }
    for (const nothing of [
      `&${name}=`,
      `&${name}`,
      '',
      `&=${encodeURIComponent(value)}`,
      `;${name}=${encodeURIComponent(value)}`
    ]) {
      const { statuses } = await say(url, tokenRequest(`${rest.toString()}${nothing}`))
      t.strictSame(statuses, [nothing.startsWith(';') ? statuses[0] : 400])
      t.not(events.at(-1)?.type, 'token_issued')
    }
  }
  for (const query of [
    'client_id=x',
    'client_secret=x',
    'client%5Fsecret=x',
    'client_secre%74=x',
    'client_secret=x&client_secret=',
    'client_secret=&client_secret=x',
    'a=b&client_id=x&client_id'
  ]) {
    const { statuses } = await say(
      url,
      request(`POST /oauth/token?${query}`, ['Content-Type: application/x-www-form-urlencoded'], form)
    )
    t.strictSame(statuses, [400])
    t.equal(events.at(-1)?.reason, 'credentials_in_url')
  }
  const rest = encode({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    grant_type: 'authorization_code',
    redirect_uri: PORTAL.redirectUri
  })
  for (const query of [`code=${code}`, `redirect_uri=${encodeURIComponent(PORTAL.redirectUri)}&code=${code}`]) {
    const { statuses } = await say(
      url,
      request(`POST /oauth/token?${query}`, ['Content-Type: application/x-www-form-urlencoded'], rest)
    )
    t.strictSame(statuses, [400])
    t.equal(events.at(-1)?.reason, 'code_missing', 'nothing is taken from the URL')
  }
  await refused(form, 'authentication_repeated', 400, [`Authorization: Basic ${Buffer.from('a:b').toString('base64')}`])
  await refused(
    form.replace(/client_secret=[^&]*/, 'x=y').replace('partner-123', 'other'),
    'authentication_repeated',
    400,
    [`Authorization: ${BASIC}`]
  )

  t.equal((await portal.token({ code })).status, 200, 'none of them used up the code')
})

await t.test('at the authorization endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const good = { client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's' }
  const ask = async (query: string) => await say(url, request(`GET /oauth/authorize?${query}`, ['X-User: alice']))

  for (const name of [...Object.keys(good), 'scope', 'code_challenge', 'unknown']) {
    const query = new URLSearchParams({
      scope: '',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      unknown: 'x',
      ...good
    }).toString()
    for (const both of [
      `${query}&${name}=evil`,
      `${name}=evil&${query}`,
      `${query}&${name}`,
      `${query}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=evil`
    ]) {
      const { statuses, text } = await ask(both)
      const own = ['client_id', 'redirect_uri'].includes(name)
      t.strictSame(statuses, [own ? 400 : 302], both.slice(-40))
      t.equal(events.at(-1)?.reason, own ? `${name}_repeated` : 'parameter_repeated')
      t.notMatch(text, /evil/, 'neither value is echoed')
      if (name === 'state') t.notMatch(text, /[?&]state=/, "a state that came twice is nobody's")
    }
  }
  for (const name of Object.keys(good) as Array<keyof typeof good>) {
    const { [name]: value, ...rest } = good
    for (const alias of aliases(name)) {
      await ask(`${encode(rest)}&${alias}=${encodeURIComponent(value)}`)
      t.equal(events.at(-1)?.reason, `${name}_missing`, alias)
    }
  }
})

await t.test('nothing but the header names a token', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const token = await portal.accessToken()
  for (const [line, headers, body] of [
    [`GET /oauth/user?access_token=${token}`, [], ''],
    [`GET /oauth/user?token=${token}&bearer=${token}`, [], ''],
    ['GET /oauth/user', ['Content-Type: application/x-www-form-urlencoded'], `access_token=${token}`],
    ['GET /oauth/user', [`Cookie: access_token=${token}`], ''],
    [
      'GET /oauth/user',
      [`X-Access-Token: ${token}`, `Proxy-Authorization: Bearer ${token}`, `X-Authorization: Bearer ${token}`],
      ''
    ]
  ] as Array<[string, string[], string]>) {
    const { statuses } = await say(url, request(line, headers, body))
    t.strictSame(statuses, [401], line)
    t.equal(events.at(-1)?.reason, 'credentials_missing')
  }
  t.equal((await portal.user(token)).status, 200, 'the token is still good')
})
