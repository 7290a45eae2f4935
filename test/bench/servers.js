import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The servers that are compared. `module` and `variant` say which file of `servers/` makes them and how. `reference`
 * is the server whose cost is 1, `target` what the ratio should be.
 */
const servers = {
  'ours-url': { title: 'fastify-partner-sso, Redis by URL', module: 'ours', variant: 'url' },
  'peer-equal': {
    title: '@node-oauth/oauth2-server, equal promises',
    module: 'peer',
    variant: 'sealed',
    reference: 'ours-url',
    target: '≥ 1.40'
  },
  peer: {
    title: '@node-oauth/oauth2-server, in the clear',
    module: 'peer',
    variant: 'clear',
    reference: 'ours-url',
    target: '≥ 1.00'
  },
  bare: { title: 'bare Fastify, Redis', module: 'bare', reference: 'ours-url' },
  'ours-memory': { title: 'fastify-partner-sso, in process', module: 'ours', variant: 'memory' }
}

export const allServers = Object.keys(servers)

/** The server of this name; `ours-url@folder` is the plugin of another checkout, which is built. */
export function serverNamed (name) {
  const [base, folder] = name.split('@')
  const server = servers[base]
  if (server === undefined) throw new Error(`No server "${base}"; there are: ${allServers.join(', ')}`)
  if (folder === undefined) return { ...server, name, checkout }
  const title = `${server.title}, of ${basename(folder)}`
  return { ...server, name, title, checkout: resolve(folder), reference: base, target: '≥ 1.14' }
}
