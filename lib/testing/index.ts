export { portal } from './portal-double.ts'
export type {
  AuthorizeResult, Failed, LoginPage, PortalDouble, SignInResult, TokenResult, User, UserResult
} from './portal-double.ts'
export type { Failure } from './failure.ts'
export type { Injectable } from './transport.ts'
export type { Level, PortalOptions, PortalSettings } from './settings.ts'
export type { Changes } from './requests.ts'
export type { Outcome, StepReport } from './steps.ts'
export type { Exchange, Headers, WireRequest, WireResponse } from './wire.ts'
export { checkStore } from './check-store.ts'
