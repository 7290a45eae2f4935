// app.partnerSso.ready() of one registration and of several; test/faults/readiness shows it with real stores.
import Fastify from 'fastify'
import t from 'tap'
import { addProbe } from '../../lib/readiness.ts'

t.test('one probe', async (t) => {
  const app = Fastify()
  let answer = true
  addProbe(app, async () => answer)
  t.equal(await app.partnerSso.ready(), true)
  answer = false
  t.equal(await app.partnerSso.ready(), false)
})

t.test('every probe counts, and all are asked at once', async (t) => {
  const app = Fastify()
  const answers = [true, true, true]
  const asked: number[] = []
  for (const index of answers.keys()) {
    addProbe(app, async () => {
      asked.push(index)
      await new Promise((resolve) => setImmediate(resolve))
      return answers[index] === true
    })
  }
  const answer = app.partnerSso.ready()
  t.strictSame(asked, [0, 1, 2])
  t.equal(await answer, true)
  for (const index of answers.keys()) {
    answers[index] = false
    t.equal(await app.partnerSso.ready(), false)
    answers[index] = true
  }
})

t.test('apps know of their own; a scope inside shares with its parent', async (t) => {
  const [one, two] = [Fastify(), Fastify()]
  t.teardown(() => Promise.all([one.close(), two.close()]))
  addProbe(one, async () => true)
  addProbe(two, async () => false)
  t.equal(await one.partnerSso.ready(), true)
  t.equal(await two.partnerSso.ready(), false)
  await one.register(async (inside) => {
    addProbe(inside, async () => false)
    t.equal(inside.partnerSso, one.partnerSso)
  })
  t.equal(await one.partnerSso.ready(), false)
})
