import { codeOf } from '../../flow/browser.ts'
import { challengeOf, randomText } from '../../flow/requests.ts'
import { Failed, Untested } from './errors.ts'
import type { Severity } from './errors.ts'
import type { Try } from './refusals.ts'
import { expectRefusal, refusesEach } from './refusals.ts'
import type { Rule, Test } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

/** A failure is advice, unless the portal sends a challenge (--pkce). */
const certain = (test: Test): Test => async (service) => {
  await test(service).catch((error: unknown) => {
    if (!(error instanceof Failed)) throw error
    const severity: Severity = service.integration.pkce ? 'must' : 'should'
    throw new Failed(error.message, error.fix, error.severity ?? severity)
  })
}

/** The right verifier of every code in these rules. */
export const VERIFIER = randomText()

/** Tries each verifier with a new code: a wrong verifier uses the code up. */
export const refusesVerifiers = (triesOf: (service: Service) => readonly Try[]): Test =>
  (service) => refusesEach(triesOf(service), async (one) =>
    expectRefusal(await service.redeem(await service.granted(VERIFIER), one)))

const KEEP = 'Keep the code_challenge with the code, and compare S256 of the code_verifier with it.'

/** RFC 7636, also where the portal does not use it yet. */
export const PKCE_RULES: readonly Rule[] = [
  {
    id: 'token.pkce',
    section: 'RFC 7636 §4.6',
    severity: 'should',
    sentence: 'A code with a challenge needs the right verifier.',
    fix: KEEP,
    test: certain(refusesVerifiers(() =>
      [randomText(), undefined, ''].map((verifier) => ({ changes: { code_verifier: verifier } }))))
  },
  {
    id: 'token.challenge-as-verifier',
    section: 'RFC 7636 §4.6',
    severity: 'should',
    sentence: 'The challenge is not its own verifier.',
    fix:
      'Compare S256 of the code_verifier, whatever the code_challenge_method; refuse the method ' +
      'plain.',
    after: ['token.pkce'],
    test: certain(refusesVerifiers(() => [{ changes: { code_verifier: challengeOf(VERIFIER) } }]))
  },
  {
    id: 'token.plain-challenge',
    section: 'RFC 9700 §2.1.1',
    severity: 'should',
    sentence: 'A plain challenge is refused: it shows the verifier.',
    fix:
      'Accept code_challenge_method=S256 only: refuse plain, and a challenge without a method, ' +
      'which means plain.',
    after: ['token.pkce'],
    test: certain(async (service) => {
      for (const method of ['plain', 'PLAIN', undefined, 'none']) {
        const verifier = randomText()
        const asked = { code_challenge: verifier, code_challenge_method: method }
        const code = codeOf(await service.authorize(asked))
        if (code !== null) expectRefusal(await service.redeem({ code, verifier }))
      }
    })
  },
  {
    id: 'token.unasked-verifier',
    section: 'RFC 9700 §4.8.2',
    severity: 'should',
    sentence: 'A verifier without a challenge is refused.',
    fix: 'Refuse a code_verifier where the code has no code_challenge: somebody has taken it away.',
    after: ['token.pkce'],
    test: certain(async (service) => {
      const none = { code_challenge: undefined, code_challenge_method: undefined }
      const code = codeOf(await service.authorize(none))
      if (code === null) throw new Untested('without a challenge there is no code')
      expectRefusal(await service.redeem({ code, verifier: randomText() }))
    })
  },
  {
    id: 'token.short-verifier',
    section: 'RFC 7636 §4.1',
    severity: 'should',
    sentence: 'A verifier of fewer than 43 characters is refused.',
    fix: 'Check the form of the code_verifier: 43 to 128 letters, digits, "-", ".", "_" and "~".',
    after: ['token.pkce'],
    test: async (service) =>
      expectRefusal(await service.redeem(await service.granted('abc')))
  },
  {
    id: 'token.failed-proof',
    section: 'RFC 9700 §4.8',
    severity: 'should',
    sentence: 'A wrong verifier uses the code up.',
    fix: 'Remove the code before the verifier is compared: nobody may try a second one.',
    after: ['token.pkce', 'token.replayed-code'],
    test: async (service) => {
      const { code } = await service.granted(VERIFIER)
      expectRefusal(await service.redeem({ code, verifier: randomText() }))
      const { reading } = await service.redeem({ code, verifier: VERIFIER })
      expect(!reading.ok, 'a token, for the right verifier after a wrong one')
    }
  }
]
