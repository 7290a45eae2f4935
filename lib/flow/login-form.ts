import { tokensOf } from './html.ts'

/** Names and values of a form. Several values: several fields of one name, in their order. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

type Attributes = ReadonlyMap<string, string>

/** A field of a form, or a button that sends it. */
export interface Control {
  name: string
  kind: 'text' | 'hidden' | 'box' | 'select' | 'button'
  /** What it sends unless a person changes it. */
  values: string[]
  /** What a person can choose: the value of a box; the values of a select, by themselves and by their labels. */
  choices: Map<string, string>
}

/** A form of a page. */
export interface Form {
  /** Where it is sent. Empty: the page's own address, with its query. */
  action: string
  method: 'GET' | 'POST'
  /** Whether a script sends it, or it is not sent form-urlencoded. */
  isSpecial: boolean
  controls: Control[]
}

/**
 * The forms of a page, in their order, as a browser without scripts has them (HTML standard section 4.10).
 *
 * @param page - the HTML
 */
export function formsOf (page: string): Form[] {
  const reader = new FormReader()
  for (const token of tokensOf(page)) {
    if (token.kind === 'start') reader.start(token.name, token.attributes)
    else if (token.kind === 'end') reader.end(token.name)
    else reader.read(token.text)
  }
  return reader.forms
}

/** The first form that is sent by POST and has a field of one of these names; undefined without one. */
export const loginFormOf = (page: string, names: readonly string[]): Form | undefined =>
  formsOf(page).find(({ method, isSpecial, controls }) =>
    method === 'POST' && !isSpecial && controls.some(({ name }) => names.includes(name)))

/**
 * What a form sends when a person has filled in these fields and pressed the button.
 *
 * @param given - other fields keep their values; a name that the form does not have is left out
 */
export function filledIn ({ controls }: Form, given: Fields): Array<[name: string, value: string]> {
  const texts = new Map(Object.entries(given).map(([name, values]) => [name, [values].flat()]))
  const button = buttonOf(controls, texts)
  return controls
    .filter((control) => control.name !== '' && (control.kind !== 'button' || control === button))
    .flatMap((control) => sentBy(control, controls, texts.get(control.name))
      .map((value): [name: string, value: string] => [control.name, value]))
}

/** The button that is given by its name and value, or else the first one. */
function buttonOf (controls: readonly Control[], texts: ReadonlyMap<string, string[]>): Control | undefined {
  const buttons = controls.filter(({ kind }) => kind === 'button')
  return buttons.find(({ name, values: [value = ''] }) => texts.get(name)?.includes(value)) ?? buttons[0]
}

/**
 * The values that a control sends.
 *
 * @param texts - what is given for the controls of its name; a text field takes the first that is left
 */
function sentBy (control: Control, controls: readonly Control[], texts?: string[]): readonly string[] {
  const { kind, values, choices } = control
  const same = controls.filter(({ name }) => name === control.name)
  if (texts === undefined || kind === 'button') return values
  if (kind === 'box') {
    const boxes = same.filter((other) => other.kind === 'box')
    return isTicked(control, boxes, texts) ? [...choices.values()] : []
  }
  if (kind === 'select') return texts.map((text) => choices.get(text) ?? text)
  // A hidden field stays as it is where a person sees another field of its name.
  const isLeft = kind === 'hidden' && same.some((other) => other.kind !== 'hidden')
  const [text] = isLeft ? [] : texts.splice(0, 1)
  return text === undefined ? values : [text]
}

/** The boxes whose values are given are ticked; where no box has one, the first box, unless the text is empty. */
function isTicked (box: Control, boxes: readonly Control[], texts: readonly string[]): boolean {
  const isGiven = ({ choices }: Control) => texts.some((text) => choices.has(text))
  if (boxes.some(isGiven)) return isGiven(box)
  return box === boxes[0] && texts.some((text) => text !== '')
}

/** The types of `<input>` that are no text; null: it sends nothing, or nothing that can be given here. */
const INPUTS = new Map<string, Control['kind'] | null>([
  ['hidden', 'hidden'],
  ['checkbox', 'box'],
  ['radio', 'box'],
  ['submit', 'button'],
  ['image', null],
  ['button', null],
  ['reset', null],
  ['file', null]
])

/** Collects the forms of a page from its tags and texts. */
class FormReader {
  readonly forms: Form[] = []
  #form: Form | undefined
  #select: Control | undefined
  #option: { value: string | undefined, label: string, isSelected: boolean } | undefined
  #textarea: Control | undefined

  start (name: string, attributes: Attributes): void {
    if (name === 'form') {
      // The start tag of a form within a form is ignored.
      if (this.#form === undefined) this.forms.push(this.#form = formOf(attributes))
    } else if (name === 'option') {
      this.#endOption()
      this.#option = { value: attributes.get('value'), label: '', isSelected: attributes.has('selected') }
    } else {
      const control = controlOf(name, attributes)
      if (control === null) return
      this.#form?.controls.push(control)
      if (name === 'select') this.#select = control
      if (name === 'textarea') this.#textarea = control
    }
  }

  read (text: string): void {
    if (this.#option !== undefined) this.#option.label += text
    // A line break right after the tag is not a part of the text.
    if (this.#textarea !== undefined) this.#textarea.values = [text.replace(/^\r?\n/, '')]
  }

  end (name: string): void {
    if (name === 'option' || name === 'select') this.#endOption()
    if (name === 'select') this.#select = undefined
    if (name === 'textarea') this.#textarea = undefined
    if (name === 'form') this.#form = undefined
  }

  #endOption (): void {
    if (this.#option === undefined || this.#select === undefined) return
    const { value, label, isSelected } = this.#option
    const text = label.replace(/\s+/g, ' ').trim()
    const sent = value ?? text
    // The first option is selected until another one says that it is.
    if (isSelected || this.#select.choices.size === 0) this.#select.values = [sent]
    this.#select.choices.set(text, sent).set(sent, sent)
    this.#option = undefined
  }
}

/** Attributes with which scripts take a form over: Vue, Alpine, AngularJS, Angular, htmx. */
const OF_SCRIPTS = /^(?:(?:@|v-on:|x-on:)submit|ng-submit|\((?:ng)?submit\)|hx-(?:get|post|put)$)/

function formOf (attributes: Attributes): Form {
  const action = attributes.get('action')?.trim() ?? ''
  const isOfScript =
    [...attributes.keys()].some((name) => OF_SCRIPTS.test(name)) ||
    /return\s+false|preventDefault/.test(attributes.get('onsubmit') ?? '')
  // Relative or not: any base shows whether it is an address of the web.
  const base = 'http://localhost'
  const isAddress = URL.canParse(action, base) && /^https?:/.test(new URL(action, base).href)
  const type = attributes.get('enctype') ?? ''
  return {
    action,
    method: /^post$/i.test(attributes.get('method') ?? '') ? 'POST' : 'GET',
    isSpecial: isOfScript || !isAddress || !/^(?:application\/x-www-form-urlencoded)?$/i.test(type),
    controls: []
  }
}

/** The control of a tag; null where it has none, or one that sends nothing. */
function controlOf (tag: string, attributes: Attributes): Control | null {
  const kind = kindOf(tag, (attributes.get('type') ?? '').toLowerCase())
  if (kind === null || attributes.has('disabled')) return null
  const name = attributes.get('name') ?? ''
  const value = attributes.get('value')
  if (kind === 'select') return { name, kind, values: [], choices: new Map() }
  if (kind !== 'box') return { name, kind, values: [value ?? ''], choices: new Map() }
  const sent = value ?? 'on'
  return { name, kind, values: attributes.has('checked') ? [sent] : [], choices: new Map([[sent, sent]]) }
}

function kindOf (tag: string, type: string): Control['kind'] | null {
  switch (tag) {
    case 'input':
      return INPUTS.get(type) ?? (INPUTS.has(type) ? null : 'text')
    case 'button':
      return ['', 'submit'].includes(type) ? 'button' : null
    case 'select':
      return 'select'
    case 'textarea':
      return 'text'
    default:
      return null
  }
}
