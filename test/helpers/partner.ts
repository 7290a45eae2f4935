import { PORTAL } from '../app.ts'

export {
  hookAt, jsonAt, partnerApp as partner, PORTAL, RECORDS, sentAt, sessionOf, SETTINGS, startApp as listening
} from '../app.ts'
export type { Change } from '../app.ts'
export const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUri: REDIRECT_URI } = PORTAL
