// Mistakes that people make in the protocol: a sentence that says what is wrong, a fragment of lib that occurs once,
// and what stands there instead. No file is named. A fragment that is gone is reported by run.js, and is no failure.
export const mistakes = [
  ['the first Authorization header hides a second one', 'if (found) return true', 'if (found) return false'],
  [
    'header names are compared in lower case only',
    "name.toLowerCase() === 'authorization'",
    "name === 'authorization'"
  ],
  ['values of headers are taken for names', 'index += 2', 'index += 1'],
  ['HTTP Basic is split at the last colon', "text.indexOf(':')", "text.lastIndexOf(':')"],
  ['HTTP Basic is not form-decoded', 'formDecode(text.slice(colon + 1))', 'text.slice(colon + 1)'],
  ['the scheme Basic is read in one case only', '/^basic(?: +(.*))?$/i', '/^Basic(?: +(.*))?$/'],
  ['the scheme Bearer is read in one case only', '!/^bearer(?: |$)/i', '!/^Bearer(?: |$)/'],
  ['a Bearer token may have any characters', '[A-Za-z0-9._~+/-]+=*', '.+'],
  ['HTTP Basic may have any characters', 'if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null', ''],
  ['an empty parameter counts as given', '.get(name)?.raw || undefined', '.get(name)?.raw'],
  ['a repeated parameter is forgotten with the next one', 'this.repeated ||= repeated', 'this.repeated = repeated'],
  [
    'names of parameters are not decoded',
    'const name = this.#decode(equals === -1 ? pair : pair.slice(0, equals))',
    'const name = equals === -1 ? pair : pair.slice(0, equals)'
  ],
  ['values are split at the last equals sign', "pair.indexOf('=')", "pair.lastIndexOf('=')"],
  ['a plus sign is no space', "encoded.split('+').join(' ')", 'encoded'],
  ['only the first plus sign is a space', "encoded.split('+').join(' ')", "encoded.replace('+', ' ')"],
  [
    'plus signs are decoded after the escapes',
    "return percentDecode(encoded.split('+').join(' '))",
    "return percentDecode(encoded)?.split('+').join(' ') ?? null"
  ],
  [
    'a value without escapes or plus signs is decoded, one with them is not',
    '!/[%+]/.test(encoded)',
    '/[%+]/.test(encoded)'
  ],
  ['a plus sign alone is not decoded', '!/[%+]/.test(encoded)', '!/%/.test(encoded)'],
  ['a broken escape is not noticed', 'this.malformed ||= percentDecode(pair) === null', ''],
  ['a broken escape is forgotten with the next parameter', 'this.malformed ||=', 'this.malformed ='],
  ['one broken escape breaks every other value', ' ?? decodeAscii(encoded)', " ?? ''"],
  ['a value that was given twice has no value', ' || this.isRepeated(name)', ''],
  ['no parameter is repeated', '.get(name)?.repeated ?? false', '.get(name)?.repeated && false || false'],
  ['any number of parameters is read', '      if (count++ === MOST_PARAMETERS) {', '      if (count++ === -1) {'],
  ['a thousand parameters are too many', 'count++ === MOST_PARAMETERS', 'count++ === MOST_PARAMETERS - 1'],
  ['the query begins at the last question mark', "url.indexOf('?')", "url.lastIndexOf('?')"],
  ['the query keeps its question mark', 'url.slice(mark + 1)', 'url.slice(mark)'],
  ['a hash sign in a state ends the query', '/[^\\x21\\x24-\\x3b', '/[^\\x21\\x23-\\x3b'],
  ['responses may be stored', "'cache-control': 'no-store'", "'cache-control': 'private'"],
  ['old caches may store responses', ", pragma: 'no-cache'", ''],
  ['responses have an etag', "name === 'etag' || ", ''],
  ["the host's CORS headers stay", "name.startsWith('access-control-')", "name === 'access-control-allow-methods'"],
  [
    'a 503 does not say when to try again',
    "status === 503 ? reply.header('retry-after', RETRY_AFTER) : reply",
    'reply'
  ],
  ['every refusal asks to try again', 'return status === 503 ? reply', 'return status > 0 ? reply'],
  [
    'refusals are sent with 200',
    'sendJson(retryLater(reply, status), status,',
    'sendJson(retryLater(reply, status), 200,'
  ],
  ['refusals have no description', ', error_description: description }', ' }'],
  ['JSON is sent as text', "'content-type', 'application/json'", "'content-type', 'text/plain'"],
  ["the host's hooks undo the headers", '  protect(reply)\n  done(null, payload)', '  done(null, payload)'],
  ["routeOptions of the host win over the plugin's own", '    ...ofHost,\n    ...own,', '    ...own,\n    ...ofHost,'],
  ['routes have HEAD twins', 'exposeHeadRoute: false,\n    pre', 'exposeHeadRoute: true,\n    pre'],
  [
    "the host's onSend hooks have the last word",
    '[ofHost.onSend ?? [], own.onSend].flat()',
    '[own.onSend, ofHost.onSend ?? []].flat()'
  ],
  ["the host's onSend hooks are dropped", '[ofHost.onSend ?? [], own.onSend].flat()', '[own.onSend].flat()'],
  ["the host's preParsing hooks are dropped", 'preParsing: [ofHost.preParsing ?? [], ', 'preParsing: ['],
  ["the host's config is dropped", ', ...ofHost.config }', ' }'],
  ['a body may be as large as the host allows', '    bodyLimit: BODY_LIMIT,\n', ''],
  [
    'a body that was read before is waited for',
    'body.readableEnded === true ?',
    'body.readableEnded === false && false ?'
  ],
  [
    'PKCE compares 42 of 43 characters',
    'timingSafeEqual(Buffer.from(computed), Buffer.from(challenge))',
    'timingSafeEqual(Buffer.from(computed.slice(0, 42)), Buffer.from(challenge.slice(0, 42)))'
  ],
  [
    'PKCE compares without regard to case',
    'timingSafeEqual(Buffer.from(computed), Buffer.from(challenge))',
    'computed.toLowerCase() === challenge.toLowerCase()'
  ],
  [
    'the method plain is accepted as well',
    'return timingSafeEqual(',
    'return verifier === challenge || timingSafeEqual('
  ],
  [
    'the challenge is made with base64 instead of base64url',
    "computed = createHash('sha256').update(verifier).digest('base64url')",
    "computed = createHash('sha256').update(verifier).digest('base64').slice(0, 43)"
  ],
  ['the syntax of a verifier is not checked', '  if (!VERIFIER.test(verifier)) return false\n', ''],
  ['verifiers of 42 characters are accepted', '{43,128}', '{42,128}'],
  ['verifiers of 129 characters are accepted', '{43,128}', '{43,129}'],
  ['the tilde is missing from the syntax of a verifier', '[A-Za-z0-9._~-]', '[A-Za-z0-9._-]'],
  ['a longer challenge is accepted', '/^[A-Za-z0-9_-]{43}$/', '/^[A-Za-z0-9_-]{43}/'],
  ['the challenge is not kept with the code', 'level, codeChallenge, JSON', 'level, \'\', JSON'],
  [
    'the level is not kept with the code',
    '[clientId, level, codeChallenge, JSON',
    '[clientId, \'partner\', codeChallenge, JSON'
  ],
  ['the external_id may break the lines', 'JSON.stringify(externalId), record', '`"${externalId}"`, record'],
  ['the external_id of an event is written as JSON', 'JSON.parse(externalId) as string', 'externalId.slice(1, -1)'],
  [
    'secrets are from Math.random',
    'randomFillSync(pool)',
    'for (let at = 0; at < pool.length; at++) pool[at] = Math.random() * 256'
  ],
  ['a sealed value is not authenticated', '    decipher.final()\n', ''],
  [
    'the tag is cut to 32 bits',
    'decipher.setAuthTag(bytes.subarray(-TAG_BYTES))',
    'decipher.setAuthTag(bytes.subarray(-TAG_BYTES, -TAG_BYTES + 4))'
  ],
  ['a sealed value too short is opened', '  if (bytes.length < TAG_BYTES) return null\n', ''],
  [
    'a token is given though it was not stored',
    'this.#lifetime, deadline) ? token : null',
    'this.#lifetime, deadline) || true ? token : null'
  ],
  ['a revocation ends before the token', 'this.#lifetime + MARGIN', '1'],
  ['a revocation ends with the token', 'this.#lifetime + MARGIN', 'this.#lifetime'],
  ['tokens live a second longer', '(locator), value, this.#lifetime', '(locator), value, this.#lifetime + 1'],
  [
    'tokens live as long in milliseconds',
    '(locator), value, this.#lifetime',
    '(locator), value, this.#lifetime * 1000'
  ],
  [
    'a secret is compared by its first 64 characters',
    "hash('sha256', secret, 'buffer')",
    "hash('sha256', secret.slice(0, 64), 'buffer')"
  ],
  [
    'a secret is compared without regard to case',
    "hash('sha256', secret, 'buffer')",
    "hash('sha256', secret.toLowerCase(), 'buffer')"
  ],
  ['the index counts from 1', 'given)).indexOf(true)', 'given)).indexOf(true) + 1 || -1'],
  [
    'the padding matches any secret',
    'timingSafeEqual(known, given))',
    'timingSafeEqual(known, given) || known === NO_SECRET)'
  ],
  [
    'the level is partner where it is not given, and where it is',
    'Object.freeze({ loginUrl, clientId, redirectUri, level })',
    "Object.freeze({ loginUrl, clientId, redirectUri, level: 'partner' as PortalLevel })"
  ],
  [
    'codes are not bound to the redirect_uri',
    'JSON.stringify([redirectUri, loginUrl, level])',
    'JSON.stringify([loginUrl, level])'
  ],
  [
    'codes are not bound to the login URL',
    'JSON.stringify([redirectUri, loginUrl, level])',
    'JSON.stringify([redirectUri, level])'
  ],
  [
    'codes are not bound to the level',
    'JSON.stringify([redirectUri, loginUrl, level])',
    'JSON.stringify([redirectUri, loginUrl])'
  ],
  [
    'the query of the redirect_uri is overwritten',
    "!redirectUri.includes('?') ? '?'",
    "!redirectUri.includes('&') ? '?'"
  ],
  ['the state is left out of the redirection', '(state === undefined ? \'\' : `&state=${state}`)', "''"],
  [
    'hooks are told the secret of the portal',
    'Object.freeze({ loginUrl, clientId, redirectUri, level })',
    'Object.freeze({ loginUrl, clientId, redirectUri, level, clientSecret })'
  ],
  [
    'hooks can change the portal',
    'Object.freeze({ loginUrl, clientId, redirectUri, level })',
    '({ loginUrl, clientId, redirectUri, level })'
  ],
  ['the first of several portals is the only one', 'all.length === 1 ? all[0] : undefined', 'all[0]'],
  ['the portal function is asked for client_ids of any length', 'value.length <= 255 && ', ''],
  [
    'an empty e-mail address is accepted',
    'Type.String({ minLength: 1, description: `',
    'Type.String({ description: `'
  ],
  [
    'a partner user may enter at the client level',
    "if (type === 'partner' && level === 'client')",
    "if (type === 'partner' && level !== level)"
  ],
  [
    'a client user needs no client at the partner level',
    "if (type !== 'client' || level === 'client'",
    "if (type !== 'client' || level !== undefined"
  ],
  [
    'a partner user may have client fields',
    '  client_name: absent(),\n',
    "  client_name: Type.Optional(text('a name')) as never,\n"
  ],
  [
    'all fields of the record are passed on',
    'const record = listedFields(given)',
    'const record = { ...given, ...listedFields(given) }'
  ],
  [
    'a client may have roles of a partner',
    'control_role: Type.Enum(clientRoles, {',
    "control_role: Type.Enum([...clientRoles, 'Partner Administrator'] as const, {"
  ],
  [
    'a client_id must be text',
    'Type.Union([Type.String({ minLength: 1 }), Type.Number()], {',
    'Type.Union([Type.String({ minLength: 1 })], {'
  ],
  ['records of any size are kept', 'if (size > RECORD_LIMIT)', 'if (size > 1e9)'],
  [
    'a repeated client_id is accepted',
    "if (parameters.isRepeated('client_id')) throw new OAuthError('client_id_repeated')",
    ''
  ],
  [
    'the state is decoded and not encoded again',
    "const state = parameters.raw('state')",
    "const state = parameters.get('state')"
  ],
  [
    'a repeated state is echoed',
    "state === undefined || parameters.isRepeated('state') ? undefined",
    'state === undefined ? undefined'
  ],
  ['repeated parameters are accepted', "if (parameters.repeated) throw new OAuthError('parameter_repeated')", ''],
  ['the description of an error is not encoded', 'encodeURIComponent(description)', 'description'],
  [
    'an error is redirected without its state',
    'portal.callback(parameters, state)',
    'portal.callback(parameters, undefined)'
  ],
  ['the method plain is accepted', "if (method !== 'S256')", "if (method !== 'S256' && method !== 'plain')"],
  [
    'a challenge without a method is accepted',
    "if (method !== 'S256')",
    "if (method !== undefined && method !== 'S256')"
  ],
  ['the time limit is reported as a reply of currentUser', ' && !isOverdue(request)', ''],
  ['the response may be framed', "'x-frame-options': 'DENY'", "'x-frame-options': 'SAMEORIGIN'"],
  [
    'the code travels on as referrer',
    "'referrer-policy': 'no-referrer'",
    "'referrer-policy': 'origin-when-cross-origin'"
  ],
  ['the error page is sent with 200', '.code(status).type(', '.code(200).type('],
  ['the redirection is permanent', 'reply.redirect(location, 302)', 'reply.redirect(location, 301)'],
  [
    'a throw in the loginPage function is an internal error',
    "throw new OAuthError('login_page_failed', { cause })",
    'throw cause'
  ],
  ['a user who may not enter is let in', "if (!given) throw new OAuthError('not_eligible')", ''],
  ['every unknown code is a replay', "? 'code_replayed' : 'code_unknown'", "? 'code_replayed' : 'code_replayed'"],
  ['no replay is reported', "? 'code_replayed' : 'code_unknown'", "? 'code_unknown' : 'code_unknown'"],
  ['the verifier is not checked', "checkVerifier(form.get('code_verifier'), redeemed.grant)", ''],
  [
    'a missing verifier is accepted',
    "if (verifier === undefined) throw new OAuthError('code_verifier_missing')",
    'if (verifier === undefined) return'
  ],
  [
    'a verifier without a challenge is accepted',
    "if (codeChallenge === '') throw new OAuthError('code_verifier_unexpected')",
    "if (codeChallenge === '') return"
  ],
  [
    'credentials in the URL are accepted',
    "if (query.has('client_id') || query.has('client_secret'))",
    "if (query.has('client_id') && query.has('client_secret'))"
  ],
  [
    'form and HTTP Basic may both be used',
    "if (clientSecret !== undefined) throw new OAuthError('authentication_repeated')",
    ''
  ],
  [
    'another client_id beside HTTP Basic is accepted',
    'clientId !== undefined && clientId !== basic.clientId',
    'false'
  ],
  [
    'the same client_id beside HTTP Basic is refused',
    'clientId !== undefined && clientId !== basic.clientId',
    'clientId !== undefined'
  ],
  [
    'a 401 does not say how to authenticate',
    'if (error.refusal.status === 401) reply.header(\'www-authenticate\', \'Basic realm="partner-sso"\')',
    ''
  ],
  ['the token response has an expiry', '"access_token":"${token}"}', '"access_token":"${token}","expires_in":60}'],
  [
    'two Authorization headers are accepted',
    "if (isAuthorizationRepeated(request.raw)) throw new OAuthError('authentication_repeated')",
    ''
  ],
  [
    'token_issued is reported for the wrong user',
    "reason: 'ok', clientId, externalId, secretIndex",
    "reason: 'ok', clientId, externalId: clientId, secretIndex"
  ],
  [
    'token_issued names the first secret always',
    'externalId, secretIndex })',
    'externalId, secretIndex: secretIndex * 0 })'
  ],
  [
    'any grant_type is accepted',
    "if (grantType !== 'authorization_code') throw new OAuthError('grant_type_unsupported')",
    ''
  ],
  [
    'a repeated parameter of the form is accepted',
    "if (form.repeated) throw new OAuthError('parameter_repeated')",
    ''
  ],
  ['a form that cannot be decoded is accepted', "if (form.malformed) throw new OAuthError('body_unreadable')", ''],
  ['the token is given though a replay came first', "if (token === null) throw new OAuthError('code_replayed')", ''],
  ['a 401 without credentials names an error', "if (reason === 'credentials_missing') return realm", ''],
  [
    'a malformed header is no credentials',
    "if (token === null) throw new OAuthError('authorization_malformed')",
    "if (token === null) throw new OAuthError('credentials_missing')"
  ],
  [
    'two Authorization headers are accepted by the user endpoint',
    "if (isAuthorizationRepeated(request.raw)) throw new OAuthError('authorization_malformed')",
    ''
  ],
  [
    'a refusal without credentials has a body',
    "error.reason === 'credentials_missing' ? reply.code(401).send('') : ",
    ''
  ],
  [
    'a failure of the service has a challenge',
    'if (refusal.status !== 400 && refusal.status !== 401) return undefined',
    ''
  ],
  [
    'a revocation that found a value says that it found none',
    'return old !== undefined && old !== REVOKED',
    'return old === REVOKED'
  ],
  [
    'a revocation that found a mark says that it found a value',
    'return old !== undefined && old !== REVOKED',
    'return old !== undefined'
  ],
  [
    'the clock of the wall decides',
    'return expiresAt <= performance.now()',
    'return expiresAt - performance.timeOrigin <= Date.now() - 2 * performance.timeOrigin'
  ],
  ['an expired record is found', 'record === undefined || isExpired(record) ?', 'record === undefined ?'],
  ['put overwrites in Redis', ", String(lifetime), 'NX'])", ', String(lifetime)])'],
  [
    'a lifetime is milliseconds in Redis',
    "value, 'EX', String(lifetime), 'NX'",
    "value, 'PX', String(lifetime), 'NX'"
  ],
  ['a probe has a longer key than a code', "toString('base64url').slice(0, 14)", "toString('base64url')"],
  [
    'an error without a message is no failure of the store',
    "return 'An error without a readable message'",
    'throw error'
  ],
  ['the arguments of a command are logged', ".replace(/, with args.*/s, '')", ''],
  ['the limit of the portal function is a second', 'performance.now() + timeout,', 'performance.now() + 1000,'],
  [
    'what the portal function returned last is used for whoever asks',
    'await ask(clientId) : undefined',
    'await (globalThis.asked ??= ask(clientId)) : undefined'
  ],
  [
    'a portal of another client_id is taken',
    'if (portal.information.clientId === clientId) return portal',
    'return portal'
  ],
  [
    'false from portalEligibility is a record',
    "if (!given) throw new OAuthError('not_eligible')",
    "if (given === null) throw new OAuthError('not_eligible')"
  ],
  [
    'false from currentUser is a user',
    'if (!user) return sendToLogin',
    'if (user === null || user === undefined) return sendToLogin'
  ],
  [
    'a code or token of any age is redeemed',
    'stored.count >= 1 && Date.now() <= stored',
    'stored.count >= 1 || Date.now() <= stored'
  ],
  ['a code is stored under a key that its prefix does not change', '${info} ${this.#scope}', '${info}']
]
