/** One step of the flow. */
export interface Step {
  /** 1 to 15. */
  number: number
  actor: 'Browser' | 'Portal' | 'Service'
  action: string
}

const row = (number: number, actor: Step['actor'], action: string): Step => ({ number, actor, action })

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end). */
export const STEPS: readonly Step[] = [
  row(1, 'Browser', 'User is sent to the portal’s start URL, which ends with the credentials identifier.'),
  row(2, 'Portal', 'Finds its OAuth configuration by the credentials identifier.'),
  row(3, 'Portal', 'Creates a session and stores a random state in it, on the server only.'),
  row(4, 'Portal', 'Redirects the browser to GET /oauth/authorize.'),
  row(5, 'Service', 'Makes sure the user is logged in and may use the portal.'),
  row(6, 'Service', 'Validates client_id and redirect_uri.'),
  row(7, 'Service', 'Redirects the browser to the portal with a code and the same state.'),
  row(8, 'Portal', 'Compares the state from the redirect with the one in the session.'),
  row(9, 'Portal', 'Calls POST /oauth/token with its credentials and the code.'),
  row(10, 'Service', 'Validates the code: single use, only at this step.'),
  row(11, 'Service', 'Validates the client credentials.'),
  row(12, 'Service', 'Returns an access token, linked to the user of the code.'),
  row(13, 'Portal', 'Calls GET /oauth/user with the access token.'),
  row(14, 'Service', 'Validates the access token: single use, only at this step.'),
  row(15, 'Service', 'Returns the user information.')
]
