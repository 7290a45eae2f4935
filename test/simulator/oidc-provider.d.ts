// What the tests use of oidc-provider, which brings no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Context {
    path: string
    url: string
    req: IncomingMessage
    res: ServerResponse
    status: number
    body: unknown
    respond?: boolean
    get (name: string): string
    set (name: string, value: string): void
  }

  export class Provider {
    constructor (issuer: string, configuration: unknown)
    AccessToken: { find (value: string): Promise<object | undefined> }
    Grant: new (properties: { accountId: string, clientId: string }) => {
      addOIDCScope (scope: string): void
      save (): Promise<string>
    }
    use (middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished (request: IncomingMessage, response: ServerResponse, result: unknown): Promise<void>
    callback (): RequestListener
  }
}
