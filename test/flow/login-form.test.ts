// The form of a login page, as a browser would send it.
import t from 'tap'
import { formsOf, formWith } from '../../lib/flow/login-form.ts'
import { portal } from '../../lib/testing/index.ts'
import type { Change } from '../helpers/partner.ts'
import { partner, SETTINGS } from '../helpers/partner.ts'

t.test('forms, however they are written', async (t) => {
  const [first, second, third] = formsOf(`<form action='/a'><input name=q></form>
    <FORM METHOD=POST ACTION="/b?x=1&amp;y=&#50;&#x33;&unknown;"><input type=hidden name=csrf value='t&quot;1'>
    <input name="user"><input type="password" name="password"><input type="checkbox" name="keep" value="1" checked>
    <input type=radio name=kind value=a><input type=file name=picture><select name=team></select><input name="">
    <input><button>Log in</button><button name="how" value="other">Other</button></FORM><form>`)
  t.strictSame(first, { action: '/a', method: 'GET', fields: { q: '' } })
  t.strictSame(second, {
    action: '/b?x=1&y=23&unknown;',
    method: 'POST',
    fields: { csrf: 't"1', user: '', password: '', keep: '1', team: '', how: 'other' }
  })
  t.strictSame(third, { action: '', method: 'GET', fields: {} })
})

t.test('the first form that has the fields, or the first one', async (t) => {
  const page = '<form action=/search><input name=q></form><form action=/login><input name=user></form>'
  t.equal(formWith(page, { user: 'ada' })?.action, '/login')
  t.equal(formWith(page, { other: 'x' })?.action, '/search')
  t.equal(formWith('<p>', {}), undefined)
})

const page = (form: string): Change => ({ loginPage: (_request, reply) => reply.type('text/html').send(form) })

t.test('a login by its fields: one page, two pages, a form by GET', async (t) => {
  const signIn = (form: string, login: Record<string, string>) =>
    portal({ app: partner(page(form)), ...SETTINGS }).signIn({ login })
  const named = '<form method=post><input name=user></form>'
  t.match(await signIn(named, { user: 'ada' }), { ok: true, record: { external_id: 'u-1' } })
  t.match(await signIn('<form method=post></form>', { user: 'ada' }), { ok: true }, 'a script adds the fields')
  t.match(await signIn('<p>', { user: 'ada' }), { ok: false, error: 'login_required' })
  t.match(await signIn('<form action="/login"><input name=user></form>', { user: 'ada' }), { ok: false })
  const first = '<form method=post><input name=mail></form>'
  const steps = partner({
    loginPage: (request, reply) => {
      const { mail } = request.body as { mail?: string } ?? {}
      return reply.type('text/html').send(mail === undefined ? first : named)
    }
  })
  t.match(await portal({ app: steps, ...SETTINGS }).signIn({ login: { mail: 'a@b', user: 'bob' } }), {
    ok: true, record: { external_id: 'u-2' }
  })
})
