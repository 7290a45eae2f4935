// The behaviour of the three routes, in many configurations: any two values of two dimensions are together in one.
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

const { completes: _part, ...signInChecks } = signIn
const { rotation, ...tokenChecks } = token

/** What holds in every configuration: the checks see an app from outside, and none knows how it is configured. */
const always: Array<Record<string, Check>> = [signInChecks, authorize, tokenChecks, store, { eachRefusal, order }]

const redis = await startRedis(t)

const configurations = pairwise(dimensions)

// CONFIGURATION=3,8 runs the configurations of these numbers alone.
for (const number of process.env.CONFIGURATION?.split(',').map(Number) ?? configurations.keys()) {
  const configuration = configurations[number]
  if (configuration === undefined) throw new Error(`There is no configuration ${number}`)
  t.test(`${number}: ${JSON.stringify(configuration)}`, async (t) => {
    const subject = await startSubject(t, configuration, redis)
    const checks = [
      ...always,
      configuration.portal === 'function' ? portalFunction : {},
      configuration.secrets === 'one' ? {} : { rotation }
    ]
    const initialBehaviour = { ...subject.behaviour }
    for (const [name, check] of checks.flatMap((some) => Object.entries(some))) {
      await t.test(name, async (t) => await check(t, subject))
      Object.assign(subject.behaviour, initialBehaviour)
    }
  })
}
