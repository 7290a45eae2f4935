import { basename, resolve } from 'node:path'

const noScope = { scope: null } // it refuses the empty `scope` that the portal sends
const openid = { scope: 'openid', redirectStatus: 303 }

/**
 * The servers that are compared. `module` is the file in `servers/`, `variant` what it is told to be;
 * `redis` says whether its codes and tokens live there; `dialect` what its authorization request differs in.
 */
export const servers = [
  {
    name: 'ours-url',
    title: 'fastify-partner-sso, Redis by URL',
    module: 'partner-sso',
    variant: 'url',
    redis: true,
    ours: true
  },
  {
    name: 'ours-client',
    title: "fastify-partner-sso, the host's Redis client",
    module: 'partner-sso',
    variant: 'client',
    redis: true,
    ours: true
  },
  {
    name: 'ours-memory',
    title: 'fastify-partner-sso, in-process store',
    module: 'partner-sso',
    variant: 'memory',
    redis: false,
    ours: true
  },
  { name: 'bare', title: 'Bare Fastify, no validation ("ceiling")', module: 'bare', variant: 'redis', redis: true },
  {
    name: 'bare-coalesced',
    title: 'Bare Fastify, coalesced Redis writes',
    module: 'bare',
    variant: 'coalesced',
    redis: true
  },
  { name: 'bare-map', title: 'Bare Fastify, a Map', module: 'bare', variant: 'map', redis: false },
  {
    name: 'node-oauth',
    title: '@node-oauth/oauth2-server',
    module: 'node-oauth',
    variant: 'plain',
    redis: true,
    dialect: noScope
  },
  {
    name: 'node-oauth-pipelined',
    title: '@node-oauth/oauth2-server, auto-pipelining',
    module: 'node-oauth',
    variant: 'pipelined',
    redis: true,
    dialect: noScope
  },
  { name: 'jmondi', title: '@jmondi/oauth2-server, KeyObject', module: 'jmondi', variant: 'plain', redis: true },
  {
    name: 'jmondi-pipelined',
    title: '@jmondi/oauth2-server, KeyObject, auto-pipelining',
    module: 'jmondi',
    variant: 'pipelined',
    redis: true
  },
  {
    name: 'oidc-provider',
    title: 'oidc-provider',
    module: 'oidc-provider',
    variant: 'plain',
    redis: true,
    dialect: openid
  },
  {
    name: 'oidc-provider-pipelined',
    title: 'oidc-provider, auto-pipelining',
    module: 'oidc-provider',
    variant: 'pipelined',
    redis: true,
    dialect: openid
  }
]

/** Ours on a Redis Cluster, for `capacity` alone. */
export const onCluster = {
  name: 'ours-cluster',
  title: 'Redis Cluster, three masters',
  module: 'partner-sso',
  variant: 'cluster',
  redis: true,
  ours: true
}

/** The row that the ratios are relative to. */
export const baseline = 'bare'

/** A row of `servers`; `name@folder` is the same server of another checkout, which is built. */
export function serverNamed (text) {
  const [name, checkout] = text.split('@')
  const found = servers.find((server) => server.name === name)
  if (!found) throw new Error(`No server "${name}"; there are: ${servers.map((server) => server.name).join(', ')}`)
  if (checkout === undefined) return found
  return { ...found, name: text, title: `${found.title}, of ${basename(checkout)}`, checkout: resolve(checkout) }
}
