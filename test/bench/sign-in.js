import { randomBytes } from 'node:crypto'

const browser = 'user-agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n' +
  'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\naccept-language: en\r\n'
const run = randomBytes(12).toString('hex')

/**
 * Plays browser and portal: the three requests of a sign-in. Every answer is checked; a wrong one throws.
 * Sign-in number `n` belongs to one user and one portal, the same in all three steps.
 */
export class SignIn {
  #redirectStatus
  #host
  #authority
  #authorizeHeads
  #tokenForms

  constructor ({ server, host, port }) {
    const { scope = '', redirectStatus = 302 } = server.dialect ?? {}
    this.#redirectStatus = redirectStatus
    this.#host = host
    this.#authority = `127.0.0.1:${port}`
    this.#authorizeHeads = host.portals.map(
      (portal) =>
        `GET /oauth/authorize?${new URLSearchParams({
          client_id: portal.clientId,
          redirect_uri: portal.redirectUri,
          response_type: 'code',
          ...(scope !== null && { scope })
        })}&state=`
    )
    this.#tokenForms = host.portals.map((portal) => `${new URLSearchParams({
      client_id: portal.clientId,
      client_secret: portal.clientSecret,
      redirect_uri: portal.redirectUri,
      grant_type: 'authorization_code'
    })}&code=`)
  }

  /** The whole flow. */
  async all (connection, n) {
    const code = await this.authorize(connection, n)
    const token = await this.token(connection, n, code)
    await this.user(connection, n, token)
  }

  /** @returns {Promise<string>} the code, as it stands in the redirect */
  async authorize (connection, n) {
    const user = this.#of(n, this.#host.users)
    const portal = this.#of(n, this.#host.portals)
    const state = `${run}${n}`
    const answer = await connection.request(
      `${this.#of(n, this.#authorizeHeads)}${state} HTTP/1.1\r\nhost: ${this.#authority}\r\n` +
        `${browser}cookie: session=${user.session}\r\n\r\n`
    )
    const location = header(answer, locationHeader)
    if (answer.status !== this.#redirectStatus) this.#wrong('authorize', answer, 'status')
    if (!location.startsWith(`${portal.redirectUri}?`)) this.#wrong('authorize', answer, 'redirect_uri')
    if (/[?&]state=([^&]*)/.exec(location)?.[1] !== state) this.#wrong('authorize', answer, 'state')
    const code = /[?&]code=([^&]+)/.exec(location)?.[1]
    if (!code) this.#wrong('authorize', answer, 'code')
    return code
  }

  /** @returns {Promise<string>} the access token */
  async token (connection, n, code) {
    const answer = await this.#askToken(connection, n, code)
    if (answer.status !== 200) this.#wrong('token', answer, 'status')
    const { token_type: type, access_token: token } = this.#json('token', answer)
    if (type !== 'Bearer') this.#wrong('token', answer, 'token_type')
    if (typeof token !== 'string' || token === '') this.#wrong('token', answer, 'access_token')
    return token
  }

  async user (connection, n, token) {
    const { record } = this.#of(n, this.#host.users)
    const answer = await this.#askUser(connection, token)
    if (answer.status !== 200) this.#wrong('user', answer, 'status')
    const user = this.#json('user', answer)
    if (user.external_id !== record.external_id) this.#wrong('user', answer, 'external_id')
    if (user.name !== record.name || user.control_role !== record.control_role) this.#wrong('user', answer, 'record')
  }

  /** That codes and tokens are good once: only then is it the same flow. */
  async checkSingleUse (connection, n) {
    const code = await this.authorize(connection, n)
    const token = await this.token(connection, n, code)
    await this.user(connection, n, token)
    const again = await this.#askUser(connection, token)
    if (again.status < 400 || again.status > 499) this.#wrong('user', again, 'a used token')
    const replay = await this.#askToken(connection, n, code)
    if (replay.status < 400 || replay.status > 499) this.#wrong('token', replay, 'a used code')
  }

  #askToken (connection, n, code) {
    const form = `${this.#of(n, this.#tokenForms)}${code}`
    return connection.request(`POST /oauth/token HTTP/1.1\r\nhost: ${this.#authority}\r\naccept: application/json\r\n` +
      `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${form.length}\r\n\r\n${form}`)
  }

  #askUser (connection, token) {
    return connection.request(`GET /oauth/user HTTP/1.1\r\nhost: ${this.#authority}\r\naccept: application/json\r\n` +
      `authorization: Bearer ${token}\r\n\r\n`)
  }

  #of (n, list) {
    return list[n % list.length]
  }

  #json (step, answer) {
    if (!header(answer, contentTypeHeader).startsWith('application/json')) this.#wrong(step, answer, 'content-type')
    return JSON.parse(answer.body)
  }

  #wrong (step, answer, what) {
    throw new Error(`wrong ${what} in the answer of ${step}:\n${answer.head}\n\n${answer.body}`)
  }
}

const locationHeader = /\r\nlocation: *([^\r\n]*)/i
const contentTypeHeader = /\r\ncontent-type: *([^\r\n]*)/i

function header (answer, name) {
  return name.exec(answer.head)?.[1] ?? ''
}
