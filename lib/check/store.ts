// Does the store keep its promises?
import { statusOf } from '../flow/wire.ts'
import type { Rule } from './rule.ts'
import { Fault, isVerdict } from './verdict.ts'
import { isPlugin, notThePlugin } from './voice.ts'

export const tokenReplayRevokes: Rule = {
  id: 'token.replay-revokes',
  group: 'store',
  severity: 'must',
  sentence: 'When a code is used twice, the token that it gave is revoked.',
  fix: 'Let `take` remove what it reads, and `revoke` put its mark in place of what the key holds; try checkStore.',
  async test (subject) {
    const grant = await subject.code()
    if (isVerdict(grant)) return grant
    const token = await subject.token(grant)
    if (isVerdict(token)) return token
    const replay = await subject.redeem(grant)
    if (replay.reading.ok) return new Fault('a second token, for a code that was used')
    // Something in front that refuses it keeps the plugin from revoking the token.
    if (!isPlugin(replay.exchange) && statusOf(replay.exchange) !== 400) return notThePlugin(replay.exchange)
    const { reading } = await subject.user(token)
    return reading.ok ? new Fault('the record, for the token of a code that was used twice') : null
  }
}
