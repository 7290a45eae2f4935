export { portal } from './portal-double.ts'
export type {
  AuthorizeResult, CheckedUsers, FailedSignIn, PortalDouble, SignInResult, TokenResult, UserResult
} from './portal-double.ts'
export type { Finding, Run } from '../check/run.ts'
export type { Failure } from '../flow/failure.ts'
export type { Injectable } from '../flow/transport.ts'
export type { Level, PortalOptions, PortalSettings } from '../flow/integration.ts'
export type { Changes } from '../flow/requests.ts'
export type { StepOutcome, StepReport } from '../flow/steps.ts'
export type { Fields, LoginPage, PostOptions, User } from '../flow/user.ts'
export type { Exchange, Headers, WireRequest, WireResponse } from '../flow/wire.ts'
export { checkStore } from '../stores/check-store.ts'
