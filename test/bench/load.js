import { Connection } from './connection.js'
import { SignIn } from './sign-in.js'

/** Keeps `concurrency` sign-ins going at once, each on a connection of its own that stays open. */
export class Load {
  /** The partner application, as the server has it. */
  host
  #connections
  #signIn
  #next = 0

  static async open ({ server, host, port, concurrency }) {
    const connections = await Promise.all(Array.from({ length: concurrency }, () => Connection.open(port)))
    return new Load(connections, host, new SignIn({ server, host, port }))
  }

  constructor (connections, host, signIn) {
    this.#connections = connections
    this.host = host
    this.#signIn = signIn
  }

  /**
   * @param {number} flows
   * @returns {Promise<{ seconds: number, times: Float64Array }>} how long all took, and each one in milliseconds
   */
  async signIn (flows) {
    const times = new Float64Array(flows)
    const begun = performance.now()
    await this.#each(flows, async (connection, n, index) => {
      const flowBegun = performance.now()
      await this.#signIn.all(connection, n)
      times[index] = performance.now() - flowBegun
    })
    return { seconds: (performance.now() - begun) / 1000, times }
  }

  /** Authorizes only, and leaves the codes alive. */
  async authorize (flows) {
    const codes = new Array(flows)
    await this.#each(flows, async (connection, n, index) => {
      codes[index] = { n, code: await this.#signIn.authorize(connection, n) }
    })
    return codes
  }

  /** Exchanges the codes, and leaves the tokens alive. */
  async token (codes) {
    const tokens = new Array(codes.length)
    await this.#each(codes.length, async (connection, _, index) => {
      const { n, code } = codes[index]
      tokens[index] = { n, token: await this.#signIn.token(connection, n, code) }
    })
    return tokens
  }

  async user (tokens) {
    await this.#each(tokens.length, (connection, _, index) =>
      this.#signIn.user(connection, tokens[index].n, tokens[index].token)
    )
  }

  /** Sends the same request `count` times; each answer must have this status. */
  async repeat (text, status, count) {
    await this.#each(count, async (connection) => {
      const answer = await connection.request(text)
      const { head, body } = answer
      if (answer.status !== status) throw new Error(`${answer.status}, not ${status}:\n${head}\n\n${body}`)
    })
  }

  checkSingleUse () {
    return this.#signIn.checkSingleUse(this.#connections[0], this.#next++)
  }

  close () {
    for (const connection of this.#connections) connection.close()
  }

  async #each (count, step) {
    let index = 0
    const work = async (connection) => {
      while (index < count) await step(connection, this.#next++, index++)
    }
    await Promise.all(this.#connections.map(work))
  }
}
