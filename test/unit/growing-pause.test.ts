// The pause before a master that takes no writes is left again.
import t from 'tap'
import { GrowingPause } from '../../lib/stores/growing-pause.ts'
import { clockOf } from '../clock.ts'

t.test('each pause is twice as long as the one before, up to five seconds; a minute later it is short again', (t) => {
  const clock = clockOf(t)
  const pause = new GrowingPause()
  const isOver = (): boolean => clock.run(() => pause.isOver())
  t.equal(isOver(), true, 'at first there is none')
  for (const milliseconds of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    clock.pass(milliseconds - 1)
    t.equal(isOver(), false, `before ${milliseconds} ms`)
    clock.pass(1)
    t.equal(isOver(), true, `after ${milliseconds} ms`)
  }
  clock.pass(5000 + 60_001)
  t.equal(isOver(), true, 'a minute after the end of the last one')
  clock.pass(100)
  t.equal(isOver(), true, 'after 100 ms')
  t.end()
})
