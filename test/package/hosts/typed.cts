// A strict TypeScript host of CommonJS, by `import`.
import Fastify from 'fastify'
import partnerSso, { partnerSso as named, UserInformation } from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'

interface User { id: string }

const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}
const record = ({ id }: User): UserInformation => ({
    external_id: id,
    email: 'a@b.example',
    name: 'A',
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  })

async function main (): Promise<void> {
  const app = Fastify()
  await app.register(partnerSso<User>, {
    portal: integration,
    currentUser: ({ headers: { 'x-user': id } }) => typeof id === 'string' ? { id } : null,
    portalEligibility: record
  })
  const result = await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } })
  await app.close()
  if (named !== partnerSso || UserInformation.anyOf.length !== 2) throw new Error('A named export is missing')
  console.log(JSON.stringify(result.ok ? result.record.external_id : result))
}

void main()
