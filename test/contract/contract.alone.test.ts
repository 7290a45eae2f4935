// The behaviour of the three routes, in many configurations: each value of a dimension meets each value of every other.
import t from 'tap'
import type { Test } from 'tap'
import { startRedis } from '../helpers/redis.ts'
import * as authorize from './checks/authorize.ts'
import * as portalFunction from './checks/portal-function.ts'
import { eachRefusal, order } from './checks/each-refusal.ts'
import * as signIn from './checks/sign-in.ts'
import * as store from './checks/store.ts'
import * as token from './checks/token.ts'
import { pairwise } from './pairwise.ts'
import { dimensions, startSubject } from './subject.ts'
import type { Subject } from './subject.ts'

type Check = (t: Test, subject: Subject) => Promise<void>

/** The checks see an app from outside; none knows its configuration. */
const { completes, ...signIns } = signIn
const { rotation, ...ofToken } = token
const always: Record<string, Check> = { ...signIns, ...authorize, ...ofToken, ...store, eachRefusal, order }

const redis = await startRedis(t)

/** The numbers of some configurations, `3,8`, to look at them alone. */
const only = process.env.CONFIGURATION?.split(',').map(Number)

for (const [index, configuration] of pairwise(dimensions).entries()) {
  if (only?.includes(index) === false) continue
  t.test(`${index}: ${JSON.stringify(configuration)}`, async (t) => {
    const subject = await startSubject(t, configuration, redis)
    const usual = { ...subject.behaviour }
    const checks: Record<string, Check> = {
      ...always,
      ...configuration.portal === 'function' ? portalFunction : {},
      ...configuration.secrets === 'one' ? {} : { rotation }
    }
    for (const [name, check] of Object.entries(checks)) {
      await t.test(name, async (t) => await check(t, subject))
      Object.assign(subject.behaviour, usual)
    }
  })
}
