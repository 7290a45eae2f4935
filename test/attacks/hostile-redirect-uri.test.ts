// Someone sends a user to the authorization endpoint with a redirect_uri that looks like the registered one to a
// person, a prefix check, a suffix check or a URL parser, and waits for the code at a place of their own. Whatever is
// not the registered string itself is answered at once, by an error page, and never by a redirection.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say } from './helpers/raw.ts'

const REGISTERED = PORTAL.redirectUri
const HOST = 'portal.example'
const PATH = '/oauth/callback'
const EVIL = 'evil.example'

/** Every place of the text, with this put in. */
const inserted = (text: string) =>
  Array.from({ length: REGISTERED.length + 1 }, (_, at) => REGISTERED.slice(0, at) + text + REGISTERED.slice(at))
const each = (variants: string[], make: (variant: string) => string) => variants.map(make)
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

const groups: Record<string, string[]> = {
  'upper and lower case': [
    REGISTERED.toUpperCase(),
    REGISTERED.replace('https', 'HTTPS'),
    REGISTERED.replace('https', 'Https'),
    REGISTERED.replace('portal', 'Portal'),
    REGISTERED.replace('example', 'EXAMPLE'),
    REGISTERED.replace('oauth', 'OAuth'),
    REGISTERED.replace('callback', 'Callback'),
    REGISTERED.replace('callback', 'callbacK')
  ],
  schemes: each(
    [
      'http',
      'ftp',
      'ws',
      'wss',
      'file',
      'blob:https',
      'view-source:https',
      'javascript',
      'data',
      'vbscript',
      'intent',
      'about',
      'httpss',
      'http s',
      ''
    ],
    (scheme) => REGISTERED.replace('https', scheme)
  ),
  'no place at all': [
    'javascript:alert(1)',
    'javascript://portal.example/oauth/callback%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'about:blank',
    '/',
    '/oauth/callback',
    '//',
    '.',
    '..',
    '#',
    '?',
    'null',
    'undefined',
    '*',
    '%',
    'https:',
    'https://',
    'https:///'
  ],
  ports: each(
    [
      '443',
      '80',
      '8443',
      '0',
      '65536',
      '00443',
      '',
      '443 ',
      '4 43',
      '-1',
      'a',
      '443@evil.example',
      '443.evil.example'
    ],
    (port) => REGISTERED.replace(HOST, `${HOST}:${port}`)
  ),
  'user information': each(['a@', 'a:b@', '@', ':@', `${HOST}@`, `${EVIL}@`, `${HOST}%40`, 'a%00@'], (user) =>
    REGISTERED.replace('://', `://${user}`)
  ),
  'another host': [
    ...each(
      [
        `@${EVIL}`,
        `:443@${EVIL}`,
        `%40${EVIL}`,
        `.${EVIL}`,
        `-${EVIL}`,
        `%2e${EVIL}`,
        `%00.${EVIL}`,
        `%23@${EVIL}`,
        `#@${EVIL}`,
        `?@${EVIL}`,
        `\\@${EVIL}`,
        `\\.${EVIL}`,
        `/@${EVIL}`,
        `%2f@${EVIL}`,
        `;@${EVIL}`,
        `&@${EVIL}`,
        `,${EVIL}`,
        ` ${EVIL}`,
        `\t@${EVIL}`,
        `\r\n@${EVIL}`,
        '.',
        '..',
        '%20',
        '.example',
        ':',
        '%3a443'
      ],
      (tail) => REGISTERED.replace(HOST, HOST + tail)
    ),
    ...each(
      [
        EVIL,
        `${EVIL}/${HOST}`,
        `${EVIL}?${HOST}`,
        `${EVIL}#${HOST}`,
        `${EVIL}\\${HOST}`,
        `evil${HOST}`,
        `www.${HOST}`,
        `x.${HOST}`,
        `.${HOST}`,
        'portalexample',
        'portal-example',
        'portal',
        'example',
        'portal.example.com',
        'portal.exampl',
        'portal.examplee',
        'ortal.example',
        'localhost',
        '127.0.0.1',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '0x7f.1',
        '2130706433',
        '0',
        '169.254.169.254',
        '*.example',
        '*',
        'portal.*',
        '%70ortal.example',
        'portal%2eexample',
        'port%61l.example',
        'portal.example%252f',
        'xn--prtal-jua.example'
      ],
      (host) => REGISTERED.replace(HOST, host)
    )
  ],
  'look-alikes and normalisation': each(
    [
      'pоrtal.example',
      'portal。example',
      'portal．example',
      'portal｡example',
      'ｐｏｒｔａｌ.example',
      'portal.examp1e',
      'portaI.example',
      'ⓟortal.example',
      'portal.exampﬂe',
      'portal.exam​ple',
      'por­tal.example',
      'portal.exаmple',
      'pörtal.example',
      'po\u0301rtal.example',
      'portal.ex\u2060ample',
      '\u202eelpmaxe.latrop',
      '\ufeffportal.example',
      'portal.example\u0000',
      'portal.example\u3002',
      'ᵖortal.example',
      'portal.exámple',
      'portal․example'
    ],
    (host) => REGISTERED.replace(HOST, host)
  ),
  slashes: [
    ...each(
      ['', '/', '///', '////', '\\\\', '/\\', '\\/', '%2f%2f', '/%2f', '//\\', '/ /', '/\t/', '/\n/', '//%09/'],
      (slashes) => REGISTERED.replace('//', slashes)
    ),
    ...each(
      [
        '//oauth/callback',
        '\\oauth\\callback',
        '/oauth\\callback',
        '/oauth//callback',
        '/oauth/callback/',
        '/oauth/callback//',
        '/oauth%2fcallback',
        '%2foauth/callback',
        '/oauth%5ccallback',
        '/oauth/callback\\',
        ''
      ],
      (path) => REGISTERED.replace(PATH, path)
    ),
    `//${HOST}${PATH}`,
    `///${HOST}${PATH}`,
    `\\\\${HOST}${PATH}`,
    `${HOST}${PATH}`,
    `https:${HOST}${PATH}`,
    `https:/${HOST}${PATH}`,
    `https:\\\\${EVIL}`,
    `//${EVIL}`,
    `/\\${EVIL}`,
    `\\/${EVIL}`
  ],
  'path tricks': each(
    [
      '/../evil',
      '/..',
      '/.',
      '/./',
      '/..%2fevil',
      '/%2e%2e/evil',
      '/%2e%2e%2fevil',
      '/..;/evil',
      ';a=b',
      ';',
      '%00',
      '%00.html',
      '%0d%0aLocation:%20https://evil.example',
      '.json',
      '/evil',
      'evil',
      '%20',
      '%09',
      '%2e',
      '*',
      '~',
      '/..\\evil',
      '/.%09./evil',
      '/%252e%252e/evil',
      '/../../../../../../etc/passwd',
      `/https://${EVIL}`,
      `//${EVIL}`,
      '/redirect?to=https://evil.example'
    ],
    (tail) => REGISTERED + tail
  ),
  'paths in front': each(
    [
      '/../oauth/callback',
      '/./oauth/callback',
      '/x/../oauth/callback',
      '/oauth/./callback',
      '/oauth/x/../callback',
      '/%2e/oauth/callback',
      '/%6fauth/callback',
      '/oauth/%63allback',
      '/oauth/callbac%6b',
      '/oauth/callbac',
      '/oauth',
      '/oauth/',
      '/callback'
    ],
    (path) => REGISTERED.replace(PATH, path)
  ),
  'queries and fragments': each(
    [
      '?',
      '#',
      '?a=b',
      '?code=x',
      '?state=x',
      '?error=x',
      '#code=x',
      `#@${EVIL}`,
      `?@${EVIL}`,
      '?#',
      '%3f',
      '%23',
      '?&',
      '&',
      '&a=b',
      '?redirect_uri=https://evil.example',
      '%3fa=b',
      `?url=https://${EVIL}`,
      '=',
      '??'
    ],
    (tail) => REGISTERED + tail
  ),
  'two in one': [
    `${REGISTERED} ${REGISTERED}`,
    `${REGISTERED},${REGISTERED}`,
    `${REGISTERED}\n${REGISTERED}`,
    `${REGISTERED}%20https://${EVIL}`,
    `https://${EVIL} ${REGISTERED}`,
    `https://${EVIL}/${REGISTERED}`,
    `https://${EVIL}?${REGISTERED}`,
    `https://${EVIL}#${REGISTERED}`,
    `${REGISTERED}${REGISTERED}`,
    `["${REGISTERED}"]`,
    `"${REGISTERED}"`,
    `'${REGISTERED}'`,
    `<${REGISTERED}>`,
    '{"$ne":null}',
    `url(${REGISTERED})`
  ],
  'encoded once more': [
    encodeURIComponent(REGISTERED),
    encodeURIComponent(encodeURIComponent(REGISTERED)),
    encodeURI(REGISTERED) + '%',
    REGISTERED.replaceAll(/[:/.]/g, percent),
    [...REGISTERED].map(percent).join(''),
    Buffer.from(REGISTERED).toString('base64'),
    Buffer.from(REGISTERED).toString('hex')
  ],
  'white space in front and behind': [
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\f',
    '\v',
    ' ',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\u3000',
    '\u0000',
    '\u200b',
    '\ufeff'
  ].flatMap((space) => [space + REGISTERED, REGISTERED + space]),
  'a byte anywhere': [
    ...inserted('\0'),
    ...inserted('\t'),
    ...inserted('\n'),
    ...inserted('\u200d'),
    ...inserted('\\')
  ],
  'one character gone': Array.from(REGISTERED, (_, at) => REGISTERED.slice(0, at) + REGISTERED.slice(at + 1)),
  'very long': [
    REGISTERED + 'a'.repeat(6000),
    `${REGISTERED}${'/'.repeat(4000)}`,
    `https://${'a.'.repeat(2000)}${HOST}${PATH}`
  ]
}

const variants = Object.entries(groups)
  .flatMap(([group, variants]) => variants.map((variant) => ({ group, variant })))
  .filter(
    ({ variant }, index, all) =>
      variant !== REGISTERED && all.findIndex((other) => other.variant === variant) === index
  )

await t.test(`${variants.length} variants`, async (t) => {
  t.ok(variants.length >= 300, 'there are enough of them')
  let asked = 0
  const { url, events } = await startHost(t, {
    currentUser: ({ headers: { 'x-user': id } }) => {
      asked++
      return { id: String(id), eligible: true }
    }
  })
  const portal = wire(url)
  const code = await portal.code()
  asked = 0
  events.length = 0

  const failed: string[] = []
  for (const { group, variant } of variants) {
    const { status, headers, text } = await portal.authorize({ redirect_uri: variant }, 'alice', {
      accept: 'text/html'
    })
    const { reason, expected, ...event } = events.at(-1) as { reason: string, expected?: string, type: string }
    const refused =
      status === 400 &&
      headers.get('location') === null &&
      headers.get('refresh') === null &&
      !text.includes(EVIL) &&
      text.includes('This sign-in cannot go on') &&
      event.type === 'request_rejected' &&
      reason === 'redirect_uri_unregistered' &&
      expected === REGISTERED
    // And the code is not given away to whoever names another redirect_uri (RFC 6749 section 4.1.3).
    const atToken = await portal.token({ code, redirect_uri: variant })
    const mismatch =
      atToken.status === 400 &&
      atToken.json.error === 'invalid_grant' &&
      events.at(-1)?.reason === 'redirect_uri_mismatch'
    if (!refused || !mismatch) failed.push(`${group}: ${JSON.stringify(variant)}`)
  }
  t.strictSame(failed, [], 'none leads anywhere')
  t.equal(asked, 0, 'no hook was asked')
  t.equal(events.length, 2 * variants.length, 'each refusal is reported')
  t.equal((await portal.token({ code })).status, 200, 'and the code is still good')
})

await t.test('as bytes on the wire, encoded by nobody', async (t) => {
  const { url, events } = await startHost(t)
  for (const { variant } of variants.filter(({ variant }) => /^[\x21-\x7e]{1,200}$/.test(variant))) {
    const query = `client_id=${PORTAL.clientId}&response_type=code&state=s&redirect_uri=${variant}`
    const { text } = await say(url, request(`GET /oauth/authorize?${query}`, ['X-User: alice']))
    // Decoded once, some of them are the registered one; what they must not do is to lead elsewhere.
    const location = /^location: (.*)$/im.exec(text)?.[1]
    if (location !== undefined && !location.startsWith(`${REGISTERED}?`)) t.fail(`${variant} leads to ${location}`)
  }
  t.ok(events.length > 250, `${events.length} were read`)
  // Encoded by nobody, a # or & ends the parameter: what is left of it may be the registered one.
  const issued = events.filter(({ type }) => type === 'code_issued').length
  t.ok(issued > 0 && issued < 20, `${issued} of them were the registered one, once decoded`)
})

await t.test('missing, empty and repeated', async (t) => {
  const { url, events } = await startHost(t)
  const ask = async (query: string) =>
    await say(
      url,
      request(`GET /oauth/authorize?client_id=${PORTAL.clientId}&response_type=code&state=s${query}`, [
        'X-User: alice'
      ])
    )
  const good = `redirect_uri=${encodeURIComponent(REGISTERED)}`
  const bad = 'redirect_uri=https://evil.example'
  for (const [query, reason] of [
    ['', 'redirect_uri_missing'],
    ['&redirect_uri=', 'redirect_uri_missing'],
    ['&redirect_uri', 'redirect_uri_missing'],
    [`&${good}&${bad}`, 'redirect_uri_repeated'],
    [`&${bad}&${good}`, 'redirect_uri_repeated'],
    [`&${good}&${good}`, 'redirect_uri_repeated'],
    [`&${good}&redirect%5furi=https://evil.example`, 'redirect_uri_repeated'],
    [`&${good}&redirect_uri`, 'redirect_uri_repeated'],
    [`&redirect_uri[]=${REGISTERED}`, 'redirect_uri_missing'],
    [`&redirect_uri[0]=${REGISTERED}`, 'redirect_uri_missing'],
    [`&Redirect_Uri=${REGISTERED}`, 'redirect_uri_missing'],
    [`&redirect_uri%00=${REGISTERED}`, 'redirect_uri_missing'],
    [`&%20redirect_uri=${REGISTERED}`, 'redirect_uri_missing'],
    [`;${good}`, 'redirect_uri_missing']
  ] as const) {
    const { text, statuses } = await ask(query)
    t.strictSame(statuses, [400], query)
    t.notMatch(text, /^location:/im)
    t.equal(events.at(-1)?.reason, reason)
  }
})
