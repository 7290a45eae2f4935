// Which names look like misspelt ones: by one letter; case and separators do not count.
import t from 'tap'
import { similarName } from '../../lib/options/misspellings.ts'

t.test('one letter', async (t) => {
  for (const [name, known, isSimilar] of [
    ['redis', 'redis', true],
    ['redi', 'redis', true],
    ['rediss', 'redis', true],
    ['redas', 'redis', true],
    ['reids', 'redis', true],
    ['erids', 'redis', false],
    ['redi5s1', 'redis', false],
    ['code-life_time', 'codeLifetime', true],
    ['cdeLifetime', 'codeLifetime', true],
    ['cdeLifetim', 'codeLifetime', false]
  ] as const) t.equal(similarName(name, [known]), isSimilar ? known : undefined, `${name} ~ ${known}`)
})

t.test('the first known name that is similar', async (t) => {
  t.equal(similarName('tokenLifetme', ['codeLifetime', 'tokenLifetime']), 'tokenLifetime')
  t.equal(similarName('nothing', ['codeLifetime', 'tokenLifetime']), undefined)
})
