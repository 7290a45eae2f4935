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
    ['REDIS', 'redis', true],
    ['erids', 'redis', false],
    ['port', 'portal', false],
    ['redi5s1', 'redis', false],
    ['', 'redis', false],
    ['codelifetim', 'codeLifetime', true],
    ['code-life_time', 'codeLifetime', true],
    ['cdeLifetime', 'codeLifetime', true],
    ['oceLifetimes', 'codeLifetime', false],
    ['codeLfietime', 'codeLifetime', true],
    ['cdeLifetim', 'codeLifetime', false],
    ['timeout', 'storeTimeout', false]
  ] as const) t.equal(similarName(name, [known]), isSimilar ? known : undefined, `${name} ~ ${known}`)
})

t.test('the first known name that is similar', async (t) => {
  t.equal(similarName('tokenLifetme', ['codeLifetime', 'tokenLifetime']), 'tokenLifetime')
  t.equal(similarName('nothing', ['codeLifetime', 'tokenLifetime']), undefined)
})
