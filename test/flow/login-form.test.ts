// The form of a login page, as a browser would send it.
import t from 'tap'
import { formsOf, formWith } from '../../lib/flow/login-form.ts'
import { portal } from '../../lib/testing/index.ts'
import { partner, SETTINGS } from '../helpers/partner.ts'

t.test('forms, however they are written', async (t) => {
  t.strictSame(formsOf(`<form action='/a'><input name=q></form>
    <FORM METHOD=POST ACTION="/b?x=1&amp;y=&#50;&#x33;&unknown;"><input type=hidden name=csrf value='t&quot;1'>
    <input name="user"><input type="password" name="password"><input type="checkbox" name="keep" value="1" checked>
    <input type=radio name=kind value=a><input type=file name=picture><select name=team></select><input name="">
    <input><button>Log in</button><button name="how" value="other">Other</button></FORM><form>`), [
    { action: '/a', method: 'GET', fields: { q: '' } },
    {
      action: '/b?x=1&y=23&unknown;',
      method: 'POST',
      fields: { csrf: 't"1', user: '', password: '', keep: '1', team: '', how: 'other' }
    },
    { action: '', method: 'GET', fields: {} }
  ])
  const boxes = '<form><input type=checkbox name=terms value=1><input type=checkbox name=news value=1>'
  t.match(formWith(boxes, { terms: 'yes' }), { fields: { terms: '1', news: undefined } }, 'a box that is given')
  const page = '<form action=/search><input name=q></form><form action=/login><input name=user></form>'
  const forms = [formWith(page, { user: 'ada' })?.action, formWith(page, { x: '' })?.action, formWith('<p>', {})]
  t.strictSame(forms, ['/login', '/search', undefined], 'that has the fields, or the first one')
})

// A time that grew with the square of the size would exceed tap's limit.
t.test('the time grows with the size of a page', async (t) => {
  for (const part of ['x', '<form', '<form action="', '<form ', ' onx', ' on']) {
    t.type(formsOf(part.repeat(2 ** 22 / part.length)), Array)
  }
})

const USER = '<form method=post><input name=user></form>'
const MAIL = '<form method=post><input name=mail></form>'

for (const [name, pageFor, login, expected] of [
  ['one page', () => USER, { user: 'bob' }, { ok: true, record: { external_id: 'u-2' } }],
  ['a script adds the fields', () => '<form method=post></form>', { user: 'bob' }, { ok: true }],
  ['two pages', (mail?: string) => mail === undefined ? MAIL : USER, { mail: 'a@b', user: 'bob' }, { ok: true }],
  ['no form', () => '<p>', { user: 'bob' }, { ok: false, error: 'login_required' }],
  ['a form by GET', () => '<form action="/login"><input name=user></form>', { user: 'bob' }, { ok: false }]
] as const) {
  t.test(`a login by its fields: ${name}`, async (t) => {
    const app = partner({
      loginPage: ({ body }, reply) => reply.type('text/html').send(pageFor((body as { mail?: string } | null)?.mail))
    })
    t.match(await portal({ app, ...SETTINGS }).signIn({ login }), expected)
  })
}
