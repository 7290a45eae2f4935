// A world in which requests of the portal meet: the real plugin on a store whose every operation waits until the
// explorer lets it happen. Each request has a process of its own.
import { clockOf } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { AsyncLocalStorage } from 'node:async_hooks'
import Fastify from 'fastify'
import partnerSso from '../../lib/index.ts'
import type { Store } from '../../lib/index.ts'
import { pluginOptions } from '../app.ts'
import { inProcess } from '../wire.ts'
import type { WireResponse, Wire } from '../wire.ts'
import type { Play, Step } from './explorer.ts'

export const STORE_TIMEOUT = 1000
/** A clock for a request. The exploration is a program of its own: its clocks are its own to its end. */
export const newClock = (): Clock => clockOf({ teardown () {} })
/** Milliseconds after which the deadline of a request is over. */
const OVER = STORE_TIMEOUT + 1
const MINUTE = 60_000
const FULL = 'the store is full'
/** Roles of one kind: what one request may do, so may the other. */
const TWINS = [['redemption', 'replay'], ['user', 'again']] as const
// After so many turns of the event loop a request that has not come to its next step never will.
const MOST_TURNS = 1000

/** The response to a request: a code or token in `given`, or an error. */
export interface Outcome { status: number, error: string | undefined, given: string | undefined }

type Request = (portal: Wire) => Promise<WireResponse>

/** A request that takes part in a scene. */
export interface Role {
  name: string
  /** The request; null until another role has got what it needs. */
  request (outcomes: Outcomes): Request | null
}

type AddStep = (label: string, happen: () => void | Promise<void>) => void

export type Outcomes = ReadonlyMap<string, Outcome>

/** The store, beyond the plugin's own calls. */
export interface SteppedStore {
  /** The option that gives the store to the plugin. */
  options: { store: Store }
  /** Makes the store full, so that it refuses `put`, or no longer full. */
  fill (full: boolean): void
  /** Called when time has passed: removes what has expired. */
  age (minutes: number): void
  /** All that it holds, with names in place of keys and values. */
  held (): Record<string, string>
  /** Keeps the content as it is now; the function returned brings it back. */
  save (): () => void
}

/** An operation of the store under way. */
export interface Operation {
  /** Names it in a schedule. */
  name: string
  /** Runs it at the store. */
  execute (): unknown
  /** Gives the reply to the plugin. */
  deliver (reply: unknown): void
  /** Ends the connection. */
  lose (): void
  /** Replies that the command is refused. */
  refuse (): void
}

interface Pending extends Operation {
  actor: Actor
  reply?: unknown
  isExecuted: boolean
  /** Whether its request has given it up. */
  isLate: boolean
}

class Actor {
  readonly name: string
  readonly clock: Clock
  /** What it has seen so far. With the role, that determines all that it will do. */
  readonly history: string[] = []
  state: 'waiting' | 'running' | 'done' = 'waiting'

  constructor (name: string, clock: Clock) {
    this.name = name
    this.clock = clock
  }
}

const actors = new AsyncLocalStorage<Actor>()
let current: World | undefined

/** Called by a store when the plugin begins an operation. Outside a scene it runs at once. */
export function begin (operation: Operation): void {
  const actor = actors.getStore()
  if (actor === undefined) queueMicrotask(() => operation.deliver(operation.execute()))
  else current?.add(actor, operation)
}

/** Whether the key is of the plugin's own probe of the store, when the host starts. */
export const isProbe = (key: string): boolean => key.includes('probe-')

/** The portal at a host on this store; every world of a scene uses it, since the plugin keeps no state of its own. */
export async function portalOn (store: SteppedStore): Promise<Wire> {
  const app = Fastify()
  await app.register(partnerSso<string>, pluginOptions({ ...store.options, storeTimeout: STORE_TIMEOUT }))
  await app.ready()
  return inProcess(app)
}

export interface Setting {
  portal: Wire
  store: SteppedStore
  roles: Role[]
  /** The code that is there when the scene begins. */
  code: string | undefined
  /** How many faults may happen: losses, refusals, time limits. */
  faults: number
  /** How many minutes may pass. */
  minutes: number
  /** What is wrong at the end. */
  judge (world: World): Promise<string[]>
}

/** One play of a scene. */
export class World implements Play {
  readonly setting: Setting
  readonly outcomes = new Map<string, Outcome>()
  /** Operations that the store executed, with their replies. */
  readonly executed: string[] = []
  /** Operations that were lost before the store executed them. */
  readonly unexecuted: string[] = []
  /** Faults that have happened. */
  readonly mishaps: string[] = []
  readonly #actors: Actor[]
  readonly #pending: Pending[] = []
  #minutes: number
  #isFull = false

  constructor (setting: Setting) {
    this.setting = setting
    this.#minutes = setting.minutes
    this.outcomes.set('authorization', { status: 302, error: undefined, given: setting.code })
    this.#actors = setting.roles.map(({ name }) => new Actor(name, newClock()))
    current = this
  }

  add (actor: Actor, operation: Operation): void {
    this.#pending.push({ ...operation, actor, isExecuted: false, isLate: false })
  }

  steps (): Step[] {
    const steps: Step[] = []
    const add: AddStep = (label, happen) => {
      steps.push({ label, happen: async () => { current = this; await happen(); await this.#settled() } })
    }
    for (const [index, actor] of this.#actors.entries()) this.#stepsOf(actor, this.setting.roles[index] as Role, add)
    if (steps.length === 0) return steps
    if (this.#minutes > 0) add('a minute passes', () => this.#age())
    if (this.#isFull) add('the store is no longer full', () => this.#fill(false))
    else if (this.#mayFail()) add(FULL, () => this.#fill(true))
    return steps
  }

  state (): string {
    const pending = this.#pending.map(({ actor, name, isExecuted, isLate, reply }) =>
      `${actor.name} ${name} ${[isExecuted, isLate]} ${isExecuted ? valueName(reply) : ''}`)
    return canonical([
      `${this.#minutes} ${this.#isFull}`,
      ...Object.entries(this.setting.store.held()).map(([key, value]) => `${key} holds ${value}`),
      ...this.#actors.map(({ name, state, history }) => `${name} is ${state}: ${history}`),
      ...pending,
      ...this.mishaps,
      ...this.executed.map((operation) => `${operation} (executed)`),
      ...this.unexecuted.map((operation) => `${operation} (not executed)`)
    ])
  }

  async faults (): Promise<string[]> {
    return await this.setting.judge(this)
  }

  /** Whether any minute has passed. */
  get hasAged (): boolean {
    return this.#minutes < this.setting.minutes
  }

  /** The status of a request after all is over, without faults. */
  async probe (request: Request): Promise<number> {
    const { clock } = this.#actors[0] as Actor
    this.setting.store.fill(false)
    const { status } = await clock.run(() => request(this.setting.portal))
    return status
  }

  #mayFail (): boolean {
    return this.mishaps.length < this.setting.faults
  }

  #stepsOf (actor: Actor, role: Role, add: AddStep): void {
    const request = actor.state === 'waiting' ? role.request(this.outcomes) : null
    if (request !== null) add(`${actor.name} begins`, () => this.#begin(actor, request))
    for (const pending of this.#pending) if (pending.actor === actor) this.#operationSteps(pending, add)
  }

  #operationSteps (pending: Pending, add: AddStep): void {
    const { actor, name, isExecuted, isLate } = pending
    const label = `${actor.name}: ${name}`
    const late = isLate ? ' late' : ''
    if (!isExecuted) add(`${label} is executed${late}`, () => this.#execute(pending))
    else add(`${label} gets its reply${late}`, () => this.#reply(pending))
    const lost = `${label} ${isExecuted ? 'reply ' : ''}is lost${late}`
    if (isLate) add(lost, () => this.#fail(pending, 'lose'))
    if (isLate || !this.#mayFail()) return
    const addFault = (what: string, happen: () => void | Promise<void>) => {
      add(what, () => {
        this.mishaps.push(what)
        return happen()
      })
    }
    addFault(lost, () => this.#fail(pending, 'lose'))
    addFault(`${label} takes too long`, () => this.#expire(pending))
    if (isExecuted) {
      addFault(`${label} gets its reply at the deadline`, () => this.#reply(pending, true))
    } else {
      addFault(`${label} is refused`, () => this.#fail(pending, 'refuse'))
    }
  }

  #begin (actor: Actor, request: Request): void {
    actor.state = 'running'
    actors.run(actor, () => actor.clock.run(() => {
      request(this.setting.portal).then((response) => {
        this.#finish(actor, outcomeOf(response))
      }, (error: unknown) => { throw error })
    }))
  }

  #finish (actor: Actor, outcome: Outcome): void {
    actor.state = 'done'
    actor.history.push(`${outcome.status} ${outcome.error ?? ''}`)
    this.outcomes.set(actor.name, outcome)
  }

  #execute (pending: Pending): void {
    pending.reply = pending.execute()
    pending.isExecuted = true
    this.executed.push(`${pending.actor.name}: ${pending.name} ${valueName(pending.reply)}`)
  }

  /** `isStalled`: the event loop was; the reply is there when the time is over, and is read before the timer fires. */
  #reply (pending: Pending, isStalled = false): void {
    const { actor, name, reply, isLate } = pending
    this.#drop(pending)
    if (!isLate) actor.history.push(`${name} ${valueName(reply)}${isStalled ? ' at the deadline' : ''}`)
    this.#run(actor, () => {
      if (isStalled) actor.clock.pass(OVER)
      pending.deliver(reply)
    })
  }

  /** The plugin learns that the connection is lost, or that the command is refused. */
  #fail (pending: Pending, how: 'lose' | 'refuse'): void {
    const { actor, name, isExecuted, isLate } = pending
    this.#drop(pending)
    if (!isLate) actor.history.push(`${name}: ${how}`)
    if (!isExecuted) this.unexecuted.push(`${actor.name}: ${name}`)
    this.#run(actor, () => pending[how]())
  }

  #fill (full: boolean): void {
    this.#isFull = full
    if (full) this.mishaps.push(FULL)
    this.setting.store.fill(full)
  }

  #expire (pending: Pending): void {
    const { actor, name } = pending
    actor.history.push(`${name} too late`)
    for (const pending of this.#pending) if (pending.actor === actor) pending.isLate = true
    this.#run(actor, () => actor.clock.pass(OVER))
  }

  /** A minute is longer than any request waits. */
  #age (): void {
    this.#minutes--
    for (const pending of this.#pending) pending.isLate = true
    for (const actor of this.#actors) this.#run(actor, () => actor.clock.pass(MINUTE))
    this.setting.store.age(1)
  }

  #drop (pending: Pending): void {
    this.#pending.splice(this.#pending.indexOf(pending), 1)
  }

  #run (actor: Actor, happen: () => void): void {
    actors.run(actor, () => actor.clock.run(happen))
  }

  /** Waits until every request is at a store operation or at its end, and what late replies start has started. */
  async #settled (): Promise<void> {
    const isAtWork = (actor: Actor) =>
      actor.state === 'running' &&
      !this.#pending.some((pending) => pending.actor === actor && !pending.isLate)
    for (let turn = 0; turn < 2 || this.#actors.some(isAtWork); turn++) {
      if (turn === MOST_TURNS) throw new Error(`${this.#actors.find(isAtWork)?.name} waits for something unknown`)
      await new Promise((resolve) => { setImmediate(resolve) })
    }
  }
}

/** One text for states that differ only in which of two like requests did what. */
function canonical (facts: string[]): string {
  const states = TWINS.reduce((all, [one, other]) => {
    const swap = (fact: string) =>
      fact.replaceAll(new RegExp(`${one}|${other}`, 'g'), (name) => name === one ? other : one)
    return [...all, ...all.map((facts) => facts.map(swap))]
  }, [facts])
  return states.map((facts) => facts.sort().join('\n')).sort()[0] as string
}

/** Replies and values in words: random texts differ in each play. */
export function valueName (value: unknown): string {
  if (value === '') return 'mark'
  return typeof value !== 'string' || value === 'OK' ? String(value) : 'value'
}

function outcomeOf ({ status, text, redirect }: WireResponse): Outcome {
  const { error, access_token: token } = text === '' ? {} : JSON.parse(text)
  const given = token ?? redirect.get('code') ?? undefined
  return { status, error: error ?? redirect.get('error') ?? undefined, given }
}
