// The list of mistakes that the mutation run makes fits the code: the text that each of them changes stands in its file
// once, and the change is one. A list that does not would stop the run, which nobody starts every day.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { mistakes } from './mistakes.js'

t.test('each mistake has its place', async (t) => {
  for (const { name, path, find, put } of mistakes) {
    t.equal(readFileSync(path, 'utf8').split(find).length - 1, 1, `${path}: ${name}`)
    t.not(put, find, name)
  }
})

t.test('each has a sentence of its own', async (t) => {
  const sentences = mistakes.map(({ name, path }) => `${path}: ${name}`)
  t.strictSame(sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index), [])
})
