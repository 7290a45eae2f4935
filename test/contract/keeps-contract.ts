// The contract in short, for a host outside of the configurations: another framework, a plugin beside.
import type { Test } from 'tap'
import { PORTAL, recordOf } from '../helpers/host.ts'
import type { Wire } from '../helpers/wire.ts'
import { isResponse } from './checks/each-refusal.ts'
import { completes, noOtherMethod } from './checks/sign-in.ts'
import { isPage, refuses } from './replies.ts'
import { refusals } from './refusals.ts'

export async function keepsContract (t: Test, at: Wire): Promise<void> {
  await t.test('a sign-in', async (t) => await signsIn(t, at))
  await t.test('refusals', async (t) => await refusesAll(t, at))
  await t.test('no HEAD twins', async (t) => await noOtherMethod(t, { at }, ['HEAD']))
}

/** A sign-in whose every response is as it must be; code and token work once. */
export async function signsIn (t: Test, at: Wire): Promise<void> {
  const { code, token } = await completes(t, { at, portal: PORTAL, recordOf })
  refuses(t, await at.user(token), 401, 'invalid_token')
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
}

/** The refusals that need no options of their own. */
async function refusesAll (t: Test, at: Wire): Promise<void> {
  for (const [reason, refusal] of Object.entries(refusals)) {
    if (refusal.options !== undefined || reason === 'not_eligible') continue
    isResponse(t, await refusal.provoke(at), refusal, { portal: PORTAL }, reason)
  }
  isPage(t, await at.authorize({ client_id: 'zzz' }, null, { accept: 'text/html,*/*;q=0.8' }), 400)
}
