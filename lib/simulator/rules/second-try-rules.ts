import { randomText } from '../../flow/requests.ts'
import type { Rule } from './rule.ts'
import { CODES, refusedAgain, TOKENS } from './single-use.ts'
import { WRONG } from './token-refusal-rules.ts'

/** Every refused request is sent again. */
export const SECOND_TRY_RULES: readonly Rule[] = [
  {
    id: 'token.second-try',
    section: 'RFC 6749 §5.2',
    severity: 'must',
    sentence: 'A refused request is refused again, however often it is sent.',
    fix: 'Decide each request by itself: ' +
      'a refusal must not leave anything behind that lets the next one through.',
    after: ['token.wrong-secret', 'token.unknown-code', 'token.replayed-code'],
    test: async (service) => {
      for (const { id, changes, caller } of WRONG) {
        const grant = await service.code()
        await refusedAgain(`the request of ${id}`, () => service.redeem(grant, { changes, caller }))
      }
      const { code } = await service.granted(randomText())
      const wrong = { code, verifier: randomText() }
      await refusedAgain('a wrong code_verifier', () => service.redeem(wrong))
      await CODES.again(service)
    }
  },
  {
    id: 'user.second-try',
    section: 'single use',
    severity: 'must',
    sentence: 'A refused request is refused again, however often it is sent.',
    fix: 'Remove the token when it is used, for good.',
    after: ['user.replayed-token'],
    test: async (service) => {
      await TOKENS.again(service)
      await refusedAgain('an unknown token', () => service.user('an-unknown-token'))
    }
  }
]
