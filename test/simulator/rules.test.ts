// The list of rules: what each says, and which are not tried after another one has failed.
import t from 'tap'
import { RULES } from '../../lib/simulator/rules/all.ts'
import { MISTAKES } from '../helpers/mistakes.ts'
import { json } from '../helpers/service.ts'
import { atToken, EVERY_RULE, tried } from './trial.ts'

await t.test('each rule says where it is written, what a correct service does, and what to do', (t) => {
  const subjects = ['Set-Cookie', 'addresses', 'login', 'single use', 'user information record']
  const section = /^(?:RFC \d{4}|CSP Level 3) §[\d.]+(?:, §[\d.]+)*$/
  for (const { id, section: where, sentence, fix } of RULES) {
    t.match(id, /^(?:address|authorize|login|service|token|user)\.[a-z-]+$/, id)
    t.ok(section.test(where) || subjects.includes(where), `${id}: ${where}`)
    t.match(sentence, /^\S.{9,}\.$/, `${id}: ${sentence}`)
    t.match(fix, /^\S.{9,}\.$/, `${id}: ${fix}`)
  }
  t.equal(new Set(RULES.map(({ id }) => id)).size, RULES.length, 'no identifier twice')
  t.end()
})

await t.test('a rule comes after those that explain its failure', (t) => {
  const causesOf = Object.fromEntries(RULES.map(({ id, after }) => [id, after]))
  for (const [at, { id, after = [] }] of RULES.entries()) {
    const before = RULES.slice(0, at).map((rule) => rule.id)
    t.strictSame(after.filter((cause) => !before.includes(cause)), [], id)
  }
  const signIn = [
    'address.endpoints', 'authorize.hook', 'service.one-store', 'authorize.code', 'authorize.code-encoded'
  ]
  const token = ['token.body', 'token.hook', 'token.response']
  t.strictSame(causesOf['token.body'], signIn)
  t.strictSame(causesOf['user.no-token'], [...signIn, ...token, 'user.hook', 'user.record'])
  t.strictSame(causesOf['address.https'], ['address.endpoints'])
  t.end()
})

await t.test('a broken token endpoint does not hide what the authorization endpoint does wrong', async (t) => {
  for (const broken of [json(503, {}), json(500, { error: 'server_error' }), 'silence'] as const) {
    const { findings } = await tried(EVERY_RULE, { reply: atToken(broken), parts: MISTAKES.framable })
    const results = new Map(findings.map(({ rule: { id }, result }) => [id, result]))
    t.equal(results.get('authorize.framing')?.outcome, 'fail', JSON.stringify(broken))
    t.match(results.get('user.record'), {
      outcome: 'untested', reason: /^token\.(?:body|response) (?:could not be judged|fails)$/
    }, JSON.stringify(broken))
  }
})
