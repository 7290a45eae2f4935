// Mistakes that people make in the protocol: a sentence that says what is wrong, a fragment of lib that occurs once,
// and what replaces it. run.js stops at a fragment that does not.
export const mistakes = [
  [
    'the first Authorization header hides a second one',
    'rawHeaders.filter(isName).length > 1',
    'rawHeaders.filter(isName).length > 2'
  ],
  ['header names are compared in lower case only', ".toLowerCase() === 'auth", " === 'auth"],
  ['values of headers are taken for names', 'index % 2 === 0 && ', ''],
  ['HTTP Basic is split at the last colon', "text.indexOf(':')", "text.lastIndexOf(':')"],
  ['the scheme Basic is read in one case only', '/^basic(?: +(.*))?$/i', '/^Basic(?: +(.*))?$/'],
  ['the scheme Bearer is read in one case only', '!/^bearer(?: |$)/i', '!/^Bearer(?: |$)/'],
  ['a Bearer token may have any characters', '[A-Za-z0-9._~+/-]+=*', '.+'],
  ['HTTP Basic may have any characters', 'if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null', ''],
  ['an empty parameter counts as given', '#values.get(name) || undefined', '#values.get(name)'],
  [
    'a repeated parameter is forgotten with the next one',
    'if (this.#values.has(name)) this',
    'this.#repeated.clear(); if (this.#values.has(name)) this'
  ],
  ['names of parameters are not decoded', 'encoded : formDecode(encoded)', 'encoded'],
  ['values are split at the last equals sign', "pair.indexOf('=')", "pair.lastIndexOf('=')"],
  ['a plus sign is no space', "encoded.replaceAll('+', ' ')", 'encoded'],
  ['only the first plus sign is a space', "encoded.replaceAll('+', ' ')", "encoded.replace('+', ' ')"],
  [
    'plus signs are decoded after the escapes',
    "unescape(encoded.replaceAll('+', ' '))",
    "unescape(encoded).replaceAll('+', ' ')"
  ],
  ['a broken escape is not noticed', 'this.malformed = !isEncoded(text)', 'this.malformed = false'],
  ['a value that was given twice has no value', ' || this.isRepeated(name)', ''],
  ['no parameter is repeated', 'return this.#repeated.has(name)', 'return false'],
  ['any number of parameters is read', 'pairs.slice(0, MOST_PARAMETERS)', 'pairs'],
  ['a thousand parameters are too many', 'pairs.length > MOST_PARAMETERS', 'pairs.length >= MOST_PARAMETERS'],
  ['the query begins at the last question mark', "url.indexOf('?')", "url.lastIndexOf('?')"],
  ['the query keeps its question mark', 'url.slice(mark + 1)', 'url.slice(mark)'],
  ['a hash sign in a state ends the query', '/[^\\x21\\x24-\\x3b', '/[^\\x21\\x23-\\x3b'],
  ['responses may be stored', "'cache-control': 'no-store'", "'cache-control': 'private'"],
  ['old caches may store responses', ", pragma: 'no-cache'", ''],
  ['responses have an etag', "name === 'etag' || ", ''],
  ["the host's CORS headers stay", "name.startsWith('access-control-')", "name === 'access-control-allow-methods'"],
  ['a 503 does not say when to try again', "reply.header('retry-after', RETRY_AFTER) :", 'reply :'],
  ['every refusal asks to try again', 'return status === 503 ? reply', 'return status > 0 ? reply'],
  ['refusals are sent with 200', 'status), status,', 'status), 200,'],
  ['refusals have no description', ', error_description: description }', ' }'],
  ['JSON is sent as text', "'content-type', 'application/json'", "'content-type', 'text/plain'"],
  ["the host's hooks undo the headers", '    protect(reply)\n    done(null, payload)', '    done(null, payload)'],
  [
    "routeOptions of the host win over the plugin's own",
    '    ...ofHost,\n    method,\n    url,\n    handler,',
    '    method,\n    url,\n    handler,\n    ...ofHost,'
  ],
  ['routes have HEAD twins', 'exposeHeadRoute: false,\n    pre', 'exposeHeadRoute: true,\n    pre'],
  [
    "the host's onSend hooks have the last word",
    'ofHost.onSend ?? [], partnerSsoOnSend',
    'partnerSsoOnSend, ofHost.onSend ?? []'
  ],
  ["the host's onSend hooks are dropped", '[ofHost.onSend ?? [], partnerSsoOnSend].flat()', '[partnerSsoOnSend]'],
  ["the host's preParsing hooks are dropped", 'preParsing: [ofHost.preParsing ?? [], ', 'preParsing: ['],
  ["the host's config is dropped", ', ...ofHost.config }', ' }'],
  ['a body may be as large as the host allows', '    bodyLimit: BODY_LIMIT,\n', ''],
  ['an undefined route option replaces a default', 'return present(options)', 'return options'],
  ['the type of the form is read in one case only', 'form-urlencoded\\s*(?:;|$)/i', 'form-urlencoded\\s*(?:;|$)/'],
  ['a body that was read before is waited for', 'body.readableEnded === true)', 'body.readableEnded === null)'],
  [
    'a code is redeemed after Fastify has responded',
    ', and the code is still good.\n        if (isOverdue(request)) return reply\n',
    '\n'
  ],
  ['a hook may outlast handlerTimeout', 'reply.sent || isOverdue(reply.request)', 'reply.sent'],
  ['a response that a function of the host has sent is forgotten', 'isGone || reply.sent ||', 'isGone ||'],
  [
    'PKCE compares 42 of 43 characters',
    "verifier, 'base64url') === challenge",
    "verifier, 'base64url').slice(0, 42) === challenge.slice(0, 42)"
  ],
  [
    'PKCE compares without regard to case',
    "verifier, 'base64url') === challenge",
    "verifier, 'base64url').toLowerCase() === challenge.toLowerCase()"
  ],
  ['the method plain is accepted as well', ') === challenge\n', ') === challenge || verifier === challenge\n'],
  [
    'the challenge is made with base64 instead of base64url',
    "hash('sha256', verifier, 'base64url')",
    "hash('sha256', verifier, 'base64').slice(0, 43)"
  ],
  ['the syntax of a verifier is not checked', '.test(verifier) &&', '.test(verifier) !== null &&'],
  ['verifiers of 42 characters are accepted', '{43,128}', '{42,128}'],
  ['verifiers of 129 characters are accepted', '{43,128}', '{43,129}'],
  ['the tilde is missing from the syntax of a verifier', '[\\w.~-]', '[\\w.-]'],
  ['a longer challenge is accepted', '/^[\\w-]{43}$/', '/^[\\w-]{43}/'],
  ['a sealed value is not authenticated', '    decipher.final()\n', ''],
  ['a revocation ends before the token', 'lifetime + MARGIN', '1'],
  ['a revocation ends with the token', 'lifetime + MARGIN', 'lifetime'],
  ['a secret is compared by its first 64 characters', "'sha256', secret,", "'sha256', secret.slice(0, 64),"],
  ['a secret is compared without regard to case', "'sha256', secret,", "'sha256', secret.toLowerCase(),"],
  ['the index counts from 1', 'known, presented))', 'known, presented)) + 1 || -1'],
  [
    'the level is partner where it is not given, and where it is',
    'redirectUri, level })',
    "redirectUri, level: 'partner' })"
  ],
  ['the query of the redirect_uri is overwritten', "redirectUri.includes('?')", "redirectUri.includes('&')"],
  ['the state is left out of the redirection', "(state === undefined ? '' : `&state=${state}`)", "''"],
  ['hooks get the secret of the portal', 'redirectUri, level })', 'redirectUri, level, clientSecret })'],
  ['hooks can change the portal', 'Object.freeze({ loginUrl,', '({ loginUrl,'],
  ['the first of several portals is the only one', 'all.length === 1 ? all[0] : undefined', 'all[0]'],
  ['the portal function is asked for client_ids of any length', 'value.length <= 255 && ', ''],
  ['an empty text is accepted', 'udfff]+$', 'udfff]*$'],
  ['a partner user may enter at the client level', "'partner' && level === 'client'", "'partner' && level !== level"],
  ['a client user needs no client at the partner level', "'client' || level === 'client'", "'client' || level"],
  ['a partner user may have client fields', 'client_name: absent()', "client_name: Type.Optional(text('a name'))"],
  [
    'all fields of the record are passed on',
    '= listedFields(Object(given))',
    '= { ...Object(given), ...listedFields(Object(given)) }'
  ],
  ['a client may have roles of a partner', 'Enum(clientRoles', "Enum([...clientRoles, 'Partner Administrator']"],
  ['a client_id must be text', 'Type.Number(), ', ''],
  ['records of any size are kept', 'size > RECORD_LIMIT ?', 'size > 1e9 ?'],
  ['a repeated client_id is accepted', "throw new OAuthError('client_id_repeated')", '{}'],
  ['the state is decoded and not encoded again', "parameters.raw('state')\n", "parameters.get('state')\n"],
  ['a repeated state is echoed', " || parameters.isRepeated('state')", ''],
  ['repeated parameters are accepted', "if (parameters.repeated) throw new OAuthError('parameter_repeated')", ''],
  ['the description of an error is not encoded', 'encodeURIComponent(description)', 'description'],
  ['an error is redirected without its state', 'callback(parameters, state)', 'callback(parameters, undefined)'],
  ['the method plain is accepted', "if (method !== 'S256')", "if (method !== 'S256' && method !== 'plain')"],
  ['a challenge without a method is accepted', "method !== 'S256'", "method !== undefined && method !== 'S256'"],
  ['the time limit is reported as a reply of currentUser', ' && !isOverdue(request)', ''],
  ['the response may be framed', "'x-frame-options': 'DENY'", "'x-frame-options': 'SAMEORIGIN'"],
  ['the code travels on as referrer', "policy': 'no-referrer'", "policy': 'origin-when-cross-origin'"],
  ['the error page is sent with 200', '.code(status).type(', '.code(200).type('],
  ['the redirection is permanent', 'reply.redirect(location, 302)', 'reply.redirect(location, 301)'],
  ['a throw in the loginPage function is an internal error', "new OAuthError('login_page_failed', { cause })", 'cause'],
  ['a user who may not enter is let in', "if (!given) throw new OAuthError('not_eligible')", ''],
  ['the verifier is not checked', "checkVerifier(form.get('code_verifier'), redeemed.grant)", ''],
  ['a missing verifier is accepted', "throw new OAuthError('code_verifier_missing')", 'return'],
  ['a verifier without a challenge is accepted', "throw new OAuthError('code_verifier_unexpected')", 'return'],
  ['credentials in the URL are accepted', "('client_id') || query.has", "('client_id') && query.has"],
  ['form and HTTP Basic may both be used', 'if (clientSecret !== undefined)', 'if (false)'],
  ['another client_id beside HTTP Basic is accepted', '!basic.clientId.includes(clientId)', 'false'],
  ['the same client_id beside HTTP Basic is refused', ' && !basic.clientId.includes(clientId)', ''],
  ['a GET of the token endpoint is refused without Allow', "reply.header('allow', 'POST'), error", 'reply, error'],
  ['a secret in the URL of another method is reported as a wrong method',
    "query.has('client_secret') ? 'credentials_in_url' : 'method_not_allowed'", "'method_not_allowed'"],
  ['the host can put refused methods into its API document',
    'documentation.hide ?? (ofHost as { hide?: boolean }).hide', '(ofHost as { hide?: boolean }).hide'],
  [
    'an error of the host is not left to it',
    'if (error === undefined) return leaveToHost(thrown)',
    'if (!error) throw 0'
  ],
  ['HTTP Basic is compared form-decoded alone', '[formDecode(sent), sent]', "[formDecode(sent), '']"],
  ['HTTP Basic is compared as it was sent alone', '[formDecode(sent), sent]', '[sent, sent]'],
  ['a 401 does not say how to authenticate', 'if (error.refusal.status === 401) reply', 'if (false) reply'],
  ['the token response has an expiry', '"access_token":"${token}"}', '"access_token":"${token}","expires_in":60}'],
  ['two Authorization headers are accepted', ".raw)) throw new OAuthError('authentication_repeated')", '.raw)) {}'],
  ['token_issued is reported for the wrong user', '...known, secretI', '...known, externalId: clientId, secretI'],
  ['token_issued names the first secret always', '...known, secretIndex }', '...known, secretIndex: 0 }'],
  ['any grant_type is accepted', "throw new OAuthError('grant_type_unsupported')", '{}'],
  ['a repeated parameter of the form is accepted', "if (form.repeated) throw new OAuthError('parameter_repeated')", ''],
  ['a form that cannot be decoded is accepted', "if (form.malformed) throw new OAuthError('body_unreadable')", ''],
  ['the token is given though a replay came first', "if (token === null) throw new OAuthError('code_replayed')", ''],
  ['a 401 without credentials names an error', "if (reason === 'credentials_missing') return realm", ''],
  ['a malformed header is no credentials', 'token === undefined) throw', '!token) throw'],
  [
    'two Authorization headers are accepted by the user endpoint',
    ".raw)) throw new OAuthError('authorization_malformed')",
    '.raw)) {}'
  ],
  ['a refusal without credentials has a body', "error.reason === 'credentials_missing' ?", 'false ?'],
  ['a failure of the service has a challenge', 'if (refusal.status !== 400 &&', 'if (false &&'],
  ['the clock of the wall decides', 'expiresAt <= performance', 'expiresAt + performance.timeOrigin <= Date'],
  [
    'an expired record is found',
    'record === undefined || record.expiresAt <= performance.now() ?',
    'record === undefined ?'
  ],
  ['put overwrites in Redis', ", String(lifetime), 'NX'],", ', String(lifetime)],'],
  ['a lifetime is milliseconds in Redis', "value, 'EX', String(lifetime), 'NX'", "value, 'PX', String(lifetime), 'NX'"],
  ['a probe has a longer key than a code', 'randomBytes(7)', 'randomBytes(8)'],
  [
    'an error without a message is no failure of the store',
    "return 'An error without a readable message'",
    'throw error'
  ],
  ['the arguments of a command are logged', ".replace(/, with args.*/s, '')", ''],
  ['the limit of the portal function is a second', 'performance.now() + timeout,', 'performance.now() + 1000,'],
  [
    'what the portal function returned last is used for whoever asks',
    '() => find(clientId)',
    "() => Object.assign(find, { last: Reflect.get(find, 'last') ?? find(clientId) }).last"
  ],
  ['a portal of another client_id is taken', 'if (portal.information.clientId === clientId) return', 'return'],
  ['false from portalEligibility is a record', 'if (!given)', 'if (given === null)'],
  ['false from currentUser is a user', 'if (!user)', 'if (user === null || user === undefined)'],
  [
    'returnTo leads to any path that starts like the endpoint',
    'url?.startsWith(`${path}?`)',
    'url?.startsWith(path)'
  ],
  ['returnTo keeps the cookie', "write(reply, name, '', 0)", ''],
  ['a Set-Cookie header replaces those of the host', "[reply.getHeader('set-cookie') ?? [], cookie]", '[cookie]'],
  ['any error of a Redis proxy stops the start', 'pattern.test(message)', 'pattern'],
  [
    'the challenge is not kept with the code',
    'issuedAt: Date.now(), ...grant',
    "issuedAt: Date.now(), ...grant, codeChallenge: ''"
  ],
  ['a token is given though it was not stored', 'return isIssued ?', 'return isIssued || true ?'],
  ['tokens live a second longer', 'tokenKey, sealed, lifetime', 'tokenKey, sealed, lifetime + 1'],
  [
    'tokens live as long in milliseconds',
    'tokenKey, sealed, lifetime',
    'tokenKey, sealed, 1000 * lifetime'
  ],
  [
    'codes are not bound to the redirect_uri',
    '[clientId, redirectUri, loginUrl, level]',
    '[clientId, loginUrl, level]'
  ],
  [
    'codes are not bound to the login URL',
    '[clientId, redirectUri, loginUrl, level]',
    '[clientId, redirectUri, level]'
  ],
  ['codes are not bound to the level', '[clientId, redirectUri, loginUrl, level]', '[clientId, redirectUri, loginUrl]'],
  ['codes are not bound to the client', '[clientId, redirectUri, loginUrl, level]', '[redirectUri, loginUrl, level]'],
  ['every unknown code is a replay', "throw new OAuthError('code_unknown')", "throw new OAuthError('code_replayed')"],
  ['no replay is reported', "throw new OAuthError('code_replayed', {", "throw new OAuthError('code_unknown', {"],
  ['a replay does not name its user', '{ externalId: replayed.record.external_id }', '{}'],
  ['the events of a sign-in have no common id', 'known.signInId = code.signInId', ''],
  [
    'a code_issued has another id than the token',
    'signInId: derived.slice(',
    'signInId: performance.now().toFixed(40).slice('
  ],
  [
    'a revocation in the process returns the mark',
    'const value = get(key) || null\n      set',
    'const value = get(key) ?? null\n      set'
  ],
  [
    'a take in the process returns the mark',
    'const value = get(key) || null\n      remove',
    'const value = get(key) ?? null\n      remove'
  ],
  ['a mark in Redis is taken for a value', 'reply === null || reply === MARK', 'reply === null'],
  ['a revocation leaves the value in Redis', "prefix + key, MARK, 'EX'", "this.#prefix + key, 'value', 'EX'"],
  ['a code or token of any age is redeemed', 'age > lifetime + CLOCK_TOLERANCE || ', ''],
  ['a code or token from the future is redeemed', ' || age < -CLOCK_TOLERANCE', ''],
  ['a token is as old as its code may be', 'codeLifetime + lifetime', 'lifetime'],
  ['the prefix changes nothing', '${info} ${scope}', '${info}'],
  ['the key of a code needs the code alone', "'code_key', binding", "'code_key', ''"],
  ['the locator is the same for every client', "'locator', JSON.stringify(clientId)", "'locator', ''"],
  ['the proof needs no secret', "'proof', credential", "'proof', ''"],
  ['the sealing key needs no secret', "'sealing_key', credential", "'sealing_key', ''"],
  [
    'the sealing key is the same for all sign-ins',
    "derive(proof, 'sealing_key'",
    "derive('', 'sealing_key'"
  ],
  ['every token has one place', "derive(locator, 'token_key'", "derive('', 'token_key'"],
  ['the proof is not compared', 'credentials.find((known) => timing', 'credentials.find((known) => true || timing'],
  [
    'the proof is compared after the take',
    'const credential = credentials',
    'store.take(keys.ofToken(locator).tokenKey, Infinity).catch(() => {})\n      const credential = credentials'
  ],
  ['spare bits of a token are ignored', 'encodeClientId(clientId) === encoded ?', 'true ?'],
  [
    'the copy for the secret that authenticated is not made',
    'own === null ? seal([sealingKey], text) : value',
    'value'
  ],
  [
    'a code opens with the secret that authenticated alone',
    'own ?? open(keys.sealingKeys(locator, portal), value)',
    'own'
  ],
  [
    'a code is sealed for the first secret alone',
    'seal(keys.sealingKeys(code.locator, portal), ',
    'seal(keys.sealingKeys(code.locator, portal).slice(0, 1), '
  ],
  ['Cluster sends a command again whose connection was lost', 'retryDelayOnFailover: 0', 'retryDelayOnFailover: 100'],
  ['an idle connection to Redis is trusted', '> IDLE', '> Infinity'],
  ['a command that was not sent to Redis is lost', 'NOT_SENT.test(error.message)', 'false'],
  ['a node of a Cluster is asked on after MOVED', "error.message.startsWith('MOVED ')", 'false'],
  ['an old outage of Redis is waited for', 'silentSince > this.#timeout', 'silentSince > Infinity'],
  [
    'a short client secret is not warned of',
    'some(({ length }) => length < STRONG_LENGTH)',
    'some(({ length }) => length < 2)'
  ],
  [
    'of several client secrets one must be strong',
    'flat().some(({ length }) => length <',
    'flat().every(({ length }) => length <'
  ],
  [
    'credentials in a URL pass where the host rewrites it',
    'const query = new Parameters(queryOf(request.originalUrl))\n  // RFC',
    'const query = new Parameters(queryOf(request.url))\n  // RFC'
  ],
  [
    'the authorization request is read after the host rewrote it',
    'const parameters = new Parameters(queryOf(request.originalUrl))',
    'const parameters = new Parameters(queryOf(request.url))'
  ],
  [
    'without a redirect_uri there is no way back to one of several portals',
    "'redirect_uri_missing', known, { loginUrl }",
    "'redirect_uri_missing', known"
  ],
  [
    'with two redirect_uris there is no way back to one of several portals',
    "'redirect_uri_repeated', known, { loginUrl }",
    "'redirect_uri_repeated', known"
  ],
  ['a secret in Base64 is shown', "(['base64', 'base64url'] as const)", "(['base64url'] as const)"],
  ['a secret in Base64url is shown', "(['base64', 'base64url'] as const)", "(['base64'] as const)"],
  ['a login is taken to have failed by 401 alone', 'if (/^\\S+ [45]/.test(last))', 'if (/^\\S+ 401/.test(last))'],
  ['a time limit outlives the call', 'reject).finally(() => clearTimeout(timer))', 'reject)'],
  [
    'the store is closed while requests are under way',
    "app.addHook('onClose', store",
    "app.addHook('preClose', store"
  ],
  [
    'at the limit, a revocation takes the room of another record',
    'remove(key)\n    const now',
    'const now'
  ],
  ['a fault of the plugin names nobody', '{ ...known, cause: thrown }, wayBack)', '{ cause: thrown }, wayBack)'],
  ['a fault of the plugin does not go back to the portal', 'cause: thrown }, wayBack)', 'cause: thrown })'],
  ['a carriage return is no line break', '/[\\r\\n]/.test(text)', '/\\n/.test(text)'],
  [
    'an expired record keeps its room in the in-process store',
    'remove(oldest)',
    'records.delete(oldest)'
  ],
  [
    'a malformed code is refused before the redirect_uri is compared',
    '        if (code !== null) known',
    "        if (code === null) throw new OAuthError('code_malformed')\n        known"
  ],
  [
    'a failure of the user endpoint asks for a token',
    'if (refusal.status !== 400 && refusal.status !== 401) return',
    'if (refusal.status === 503) return'
  ],
  [
    'log serializers of the whole registration win over those of a route',
    '{ ...options.logSerializers, ...ofHost.logSerializers }',
    '{ ...ofHost.logSerializers, ...options.logSerializers }'
  ],
  [
    'a callback with another value of a parameter of its own counts',
    'registered.every(([name, value]) => url.searchParams.getAll(name).includes(value))',
    'registered.every(([name]) => url.searchParams.has(name))'
  ],
  [
    'of two states the last one counts',
    'if (states.length !== 1 || states[0] !== state) {',
    'if (states.at(-1) !== state) {'
  ],
  ['an abort during a request does not end it', 'outer === undefined ? late.sig', 'outer?.aborted !== true ? late.sig'],
  [
    'of a header in several lines the first one counts',
    "return headerValues(response, name).join(', ')",
    "return headerValues(response, name)[0] ?? ''"
  ],
  ['the response to a login reaches the terminal raw', 'return escape(error.message)', 'return error.message'],
  [
    'a callback that is registered with https and given with http is not found',
    "given.replace(protocol, protocol === 'https:' ? 'http:' : 'https:')",
    "given.replace(protocol, 'http:')"
  ],
  [
    'a page in progress is lost when the simulator stops',
    'if (text === null) continue',
    'if (text === null) return location.reload()'
  ],
  [
    'in the race of takes no winner is as good as one',
    'result === wanted).length, 1)',
    'result === wanted).length > 1 ? 2 : 1, 1)'
  ],
  [
    'the form of a login loses the query of its page',
    'post: (fields, url = page.url)',
    "post: (fields, url = '/login')"
  ],
  ['cookies of an object need TLS', '({ name, value, secure: false })', '({ name, value, secure: true })'],
  ['a code after &amp; is shown', '/((?:^|[?&;\\s])(?:access_token', '/((?:^|[?&\\s])(?:access_token'],
  ['a character that arrives in two parts is two', 'body: Buffer.concat(chunks).toString()', "body: chunks.join('')"],
  [
    'a login page that begins with the letters of the path has that path',
    'pathname.startsWith(`${path}/`)',
    'pathname.startsWith(path)'
  ],
  ['a secret in percent-encoding of percent-encoding is hidden once alone', '`%(?:25)*${hexOf', '`%(?:25)?${hexOf'],
  [
    'the paragraph separator is safe for a terminal',
    '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]',
    '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}]'
  ],
  [
    '[::1] is no name of this machine',
    '/^(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::\\d+)?$/',
    '/^(?:localhost|127\\.0\\.0\\.1)(?::\\d+)?$/'
  ],
  [
    'a malformed Basic header beside a client_secret is 401',
    "  if (clientSecret !== undefined) throw new OAuthError('authentication_repeated')\n" +
      "  if (basic === null) throw new OAuthError('authentication_malformed')\n",
    "  if (basic === null) throw new OAuthError('authentication_malformed')\n" +
      "  if (clientSecret !== undefined) throw new OAuthError('authentication_repeated')\n"
  ],
  [
    'a question mark in the fragment of loginPage begins its query',
    "${page.includes('?')",
    "${loginPage.includes('?')"
  ],
  [
    'a redirect_uri that was encoded once more differs in its path',
    '[registered, formDecode(registered)].includes',
    '[formDecode(registered)].includes'
  ],
  [
    'a given cookie without a Path stays beside the renewed one',
    '(other.path || path) === path',
    '(other.path ?? path) === path'
  ],
  ['a timeout may be infinite', 'Number.isFinite(timeout) && timeout > 0', 'timeout > 0'],
  ['the error of a failed step is not masked', 'return secrets.mask(error)', 'return error'],
  [
    'a shorter secret is hidden before the longer one that has it',
    'other.length - one.length',
    'one.length - other.length'
  ],
  [
    'a short client secret is found in lower case alone',
    "${every}(?![\\\\p{L}\\\\p{N}])`, 'giu')",
    "${every}(?![\\\\p{L}\\\\p{N}])`, 'gu')"
  ],
  [
    'a member named error makes any response an error',
    'if (response.status >= 400 && error !== null) {',
    'if (error !== null) {'
  ],
  [
    'the host name of the callback is no name of the simulator',
    'host !== start.host && host !== callback.host) {',
    'host !== start.host) {'
  ],
  [
    'a cookie with a dot before its Domain is dropped',
    "attributes.get('domain')?.toLowerCase().replace(/^\\./, '')",
    "attributes.get('domain')?.toLowerCase()"
  ],
  [
    'an address on a login page is relative to the origin',
    'browser.open(new URL(url, page.url).href',
    'browser.open(new URL(url, new URL(page.url).origin).href'
  ],
  [
    'the browser of the ineligible user has the headers of the other',
    'headers: shared,',
    'headers: { ...shared, ...headers },'
  ]
]
