// The behaviour of the three routes, in many configurations: each value of a dimension meets each value of every other.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { startRedis } from '../helpers/redis.ts'
import { timers } from '../helpers/timers.ts'
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
const checks: Record<string, Check> = {
  ...signIns, ...authorize, ...token, ...store, ...portalFunction, eachRefusal, order
}

const redis = await startRedis(t)
const configurations = pairwise(dimensions)

/** The numbers of some configurations, `3,8`, to look at them alone. */
const only = process.env.CONFIGURATION?.split(',').map(Number)

for (const [index, configuration] of configurations.entries()) {
  if (only?.includes(index) === false) continue
  t.test(`${index}: ${JSON.stringify(configuration)}`, async (t) => {
    const subject = await startSubject(t, configuration, redis)
    const usual = { ...subject.behaviour }
    for (const [name, check] of Object.entries(checks)) {
      const before = timers()
      await t.test(name, async (t) => await check(t, subject))
      // A timer may be cleared after the response. One of `storeTimeout` that is left would be there for longer.
      for (let tries = 0; timers() > before && tries < 100; tries++) await sleep(10)
      t.ok(timers() <= before, `${name} leaves no timer`)
      Object.assign(subject.behaviour, usual)
    }
  })
}
