interface Person {
  /** The partner application's user identifier. */
  external_id: string
  email: string
  /** Display name. */
  name: string
  product_role: 'Product Operator' | 'Product Read Only'
}

/** A user of the partner itself: carries none of the client fields. */
export interface PartnerInformation extends Person {
  type: 'partner'
  control_role: 'Partner Administrator' | 'Partner Read Only'
}

/** A user of one of the partner's clients. */
export interface ClientInformation extends Person {
  type: 'client'
  control_role: 'Client Administrator' | 'Client Read Only'
  /** The portal's client identifier. */
  client_id?: string | number
  /** The portal's client name. */
  client_name?: string
  /** The partner application's client identifier. */
  client_external_id?: string
}

/** The record that `GET /oauth/user` returns (spec §2.3). */
export type UserInformation = PartnerInformation | ClientInformation
