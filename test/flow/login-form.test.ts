// The form of a login page, as a browser would send it when a person has filled it in.
import t from 'tap'
import { textsOf } from '../../lib/flow/html.ts'
import { filledIn, formsOf, loginFormOf } from '../../lib/flow/login-form.ts'
import type { Fields, Form } from '../../lib/flow/login-form.ts'

/** What the only form of a page sends. */
const sent = (page: string, given: Fields = {}): string =>
  new URLSearchParams(filledIn(formsOf(page)[0] as Form, given)).toString()

t.test('forms, however they are written', async (t) => {
  const page = `<form action='/a'><input name=q></form>
    <FORM METHOD=POST ACTION="/b?x=1&amp;y=&#50;&#x33;&unknown;"><input type=hidden name=csrf value='t&quot;1'>
    <input name="user"><input type="password" name="password"></FORM><form>`
  t.match(formsOf(page), [
    { action: '/a', method: 'GET' },
    { action: '/b?x=1&y=23&unknown;', method: 'POST' },
    { action: '', method: 'GET', controls: [] }
  ])
  t.strictSame(filledIn(formsOf(page)[1] as Form, { user: 'ada', password: 'p&w' }), [
    ['csrf', 't"1'], ['user', 'ada'], ['password', 'p&w']
  ])
})

/** Controls, what is typed, and what a browser sends. */
const CONTROLS: Array<[controls: string, given: Fields, sent: string, what?: string]> = [
  ['<input name=a value=1><input name=b><input value=2><input name="" value=3>', {}, 'a=1&b='],
  ['<input name=a value=1 disabled><input name=b readonly value=2>', {}, 'b=2'],
  ['<input type=file name=a><input type=reset name=b><input type=button name=c><input type=image name=d>', {}, ''],
  ['<input name=a value=1 value=2>', {}, 'a=1', 'the first attribute of a name'],
  ['<input name=a value=">"><input name=b title="a > b" value=2>', {}, 'a=%3E&b=2', 'a > within a value'],
  ['<input name = "a"\n value = 1 / >', {}, 'a=1'],
  ['<input name=a value=1>', { a: '2', b: '3' }, 'a=2', 'a field that the form does not have is left out'],
  ['<input name=a><input name=a value=x>', { a: ['1', '2'] }, 'a=1&a=2', 'two fields of one name'],
  ['<input name=a><input name=a value=x>', { a: '1' }, 'a=1&a=x', 'of which one is given'],
  ['<input type=hidden name=a value=0><input name=a>', { a: '1' }, 'a=0&a=1', 'a hidden field is no field of a person'],
  ['<input type=hidden name=a value=0>', { a: '1' }, 'a=1', 'unless there is no other'],
  ['<textarea name=a>\n&lt;x&gt;\ny</textarea>', {}, 'a=%3Cx%3E%0Ay'],
  ['<textarea name=a></textarea><textarea name=b>x</textarea>', { a: '1' }, 'a=1&b=x'],
  ['<textarea name=a><input name=b></textarea>', {}, 'a=%3Cinput+name%3Db%3E', 'what it has is no tag'],
  ['<select name=a><option value=1>One<option value=2 selected>Two</select>', {}, 'a=2', 'a selected option'],
  ['<select name=a><option>One</option><option> Two \n of </option></select>', {}, 'a=One', 'the first, without one'],
  ['<select name=a><option value=1>One<option value=2>Two</select>', { a: 'Two' }, 'a=2', 'an option by its label'],
  ['<select name=a><option value=1>One<option value=2>Two</select>', { a: '2' }, 'a=2', 'or by its value'],
  ['<select name=a><option value=1>One</select>', { a: '3' }, 'a=3', 'a script may add it'],
  ['<select name=a></select>', {}, ''],
  ['<input type=checkbox name=a><input type=checkbox name=b checked>', {}, 'b=on'],
  ['<input type=checkbox name=a value=1><input type=checkbox name=b value=1>', { a: 'yes' }, 'a=1', 'a box is ticked'],
  ['<input type=checkbox name=a value=1 checked>', { a: '' }, '', 'or not'],
  ['<input type=hidden name=a value=0><input type=checkbox name=a value=1>', { a: '1' }, 'a=0&a=1'],
  ['<input type=radio name=a value=1 checked><input type=radio name=a value=2>', {}, 'a=1'],
  ['<input type=radio name=a value=1 checked><input type=radio name=a value=2>', { a: '2' }, 'a=2'],
  ['<button name=a value=1></button><button name=a value=2></button>', {}, 'a=1', 'a person presses the first button'],
  ['<button name=a value=1></button><button name=a value=2></button>', { a: '2' }, 'a=2', 'or the one that is given'],
  ['<button type=button name=a></button><input type=submit name=b value=2><button>c</button>', {}, 'b=2']
]

for (const [controls, given, expected, what] of CONTROLS) {
  t.test(`${controls} ${JSON.stringify(given)}${what === undefined ? '' : `: ${what}`}`, async (t) => {
    t.equal(sent(`<form method=post>${controls}</form>`, given), expected)
  })
}

t.test('the login form: the first one that is sent by POST and has one of the fields', async (t) => {
  const form = (action: string, more = '') => `<form action=/${action} method=post ${more}><input name=user></form>`
  for (const [page, expected] of [
    [`<form action=/search><input name=user></form>${form('login')}`, '/login'],
    [`<form action=/language method=post><select name=l></select></form>${form('login')}`, '/login'],
    [form('a') + form('b'), '/a'],
    [`<!-- ${form('old')} -->${form('new')}`, '/new'],
    [`<script>'${form('script')}'</script><style>${form('style')}</style>${form('login')}`, '/login'],
    [`<template><template></template>${form('template')}</template>${form('login')}`, '/login'],
    [`<form action=/outer method=post>${form('inner')}`, '/outer'],
    [form('a', 'onsubmit="send(event); return false"') + form('b', '@submit.prevent=send'), undefined],
    [form('a', 'onsubmit="return isGood()"'), '/a'],
    [form('a', 'enctype=multipart/form-data'), undefined],
    ['<form method=post action="javascript:send()"><input name=user></form>', undefined],
    ['<form method=post action="http://["><input name=user></form>', undefined],
    ['<form method=dialog><input name=user></form>', undefined],
    ['<form method=post><input name=name></form>', undefined],
    ['<input name=user><select><option>x</select>', undefined],
    ['<form method=post action="/cut><input name=user></form>', undefined]
  ] as const) t.equal(loginFormOf(page, ['user', 'password'])?.action, expected, page)
})

// A time that grew with the square of the size would exceed tap's limit.
t.test('the time grows with the size of a page', async (t) => {
  for (const part of [
    'x', '<', '<form', '<form action="', '<form ', ' onx', ' on', '<div>', '</b>', '<!--', '<!', '<a b = ', '<script>',
    '<textarea>', '<template>', '<select><option>', '&#1', '<p>x'
  ]) t.type(formsOf(part.repeat(2 ** 20 / part.length)), Array, part)
})

t.test('what a person can read of a page', async (t) => {
  const page = '<!doctype html><title>Log&nbsp;in</title><style>a</style><!-- b --><script>c</script><?d?></e f>' +
    '<p>Wrong &amp; late:\n 1 < 2 &#x1F511; &#x110000; &copy;<template>g</template><br/>Try again<p> </p><b class="'
  t.strictSame(textsOf('a page that ends </in an="end tag'), ['a page that ends'])
  t.strictSame(textsOf(page), ['Log in', 'Wrong & late: 1', '<', '2 🔑 \ufffd &copy;', 'Try again'])
})
