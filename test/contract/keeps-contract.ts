// The contract in short, for a host outside of the configurations: another framework, a plugin beside.
import type { Test } from 'tap'
import type { RefusalReason } from '../../lib/index.ts'
import { RECORDS } from '../app.ts'
import type { Wire } from '../wire.ts'
import { isResponse } from './checks/each-refusal.ts'
import { completes, noHead } from './checks/sign-in.ts'
import { HTML, isPage, refuses } from './replies.ts'
import { refusals } from './refusals.ts'

/** One of each form: JSON, a redirect, a challenge, a challenge without a body, a form that is not read. */
const FORMS: RefusalReason[] = [
  'client_id_unknown', 'response_type_unsupported', 'client_secret_wrong', 'credentials_missing',
  'content_type_unsupported', 'method_not_allowed'
]

export async function keepsContract (t: Test, at: Wire): Promise<void> {
  await signsIn(t, at)
  for (const reason of FORMS) {
    const refusal = refusals[reason]
    isResponse(t, await refusal.provoke(at), reason, refusal)
  }
  isPage(t, await at.authorize({ client_id: 'zzz' }, null, HTML), 400)
  await noHead(t, { at })
}

/** A sign-in whose every response is as it must be; code and token work once. */
export async function signsIn (t: Test, at: Wire): Promise<void> {
  const { code, token } = await completes(t, { at, recordOf: () => RECORDS.ada })
  refuses(t, await at.user(token), 401, 'invalid_token')
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
}
