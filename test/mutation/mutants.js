// Makes mutants of a source file: one text that holds them all, each asleep until its number is asked for.
import ts from 'typescript'

const K = ts.SyntaxKind

/** The text with every mutant in it, and a list of them: { id, line, original, mutated }. `nextId` numbers on. */
export function mutate (path, given, nextId) {
  // Only the first line of a file may start so, and another line comes before it.
  const text = given.replace(/^#!/, '//')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const mutants = []

  const add = (node, mutated) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    const original = oneLine(node.getText(source))
    const mutant = { id: nextId + mutants.length, path, line: line + 1, original, mutated: oneLine(mutated) }
    mutants.push(mutant)
    return mutant.id
  }

  /** The source of the node with all mutants inside. */
  function render (node) {
    if (isInert(node)) return node.getFullText(source)
    const start = node.getStart(source)
    let rendered = ''
    let at = start
    ts.forEachChild(node, (child) => {
      rendered += text.slice(at, child.getFullStart()) + render(child)
      at = child.getEnd()
    })
    rendered += text.slice(at, node.getEnd())
    return text.slice(node.getFullStart(), start) + awaken(node, rendered)
  }

  function awaken (node, rendered) {
    const expressions = alternatives(node, source)
    if (expressions.length > 0) {
      return `(${expressions.map((mutated) => `__m(${add(node, mutated)}) ? (${mutated}) : `).join('')}(${rendered}))`
    }
    if (isRemovable(node)) return `{ if (!__m(${add(node, '')})) { ${rendered} } }` // in braces: an else may follow
    if (isEmptiable(node)) return rendered.replace('{', () => `{ if (__m(${add(node, '{}')})) return;`)
    return rendered
  }

  const body = source.statements.map(render).join('')
  return { text: `const __m = globalThis.__mutant ?? (() => false);\n${body}`, mutants }
}

const oneLine = (text) => text.replace(/\s+/g, ' ').slice(0, 120)

/** Nothing in it is run, or it cannot be wrapped. */
function isInert (node) {
  const inert = [
    ts.isTypeNode, ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration, ts.isTypeParameterDeclaration,
    ts.isImportDeclaration, ts.isExportDeclaration, ts.isModuleDeclaration
  ]
  return inert.some((is) => is(node)) || (ts.isCallExpression(node) && node.expression.kind === K.ImportKeyword)
}

/** Statements that do something by themselves. */
function isRemovable (node) {
  if (ts.isThrowStatement(node)) return true
  if (!ts.isExpressionStatement(node)) return false
  return !(ts.isCallExpression(node.expression) && node.expression.expression.kind === K.SuperKeyword)
}

/** Bodies of functions and methods. */
function isEmptiable (node) {
  const functions = [ts.isFunctionDeclaration, ts.isMethodDeclaration, ts.isArrowFunction, ts.isGetAccessor]
  return ts.isBlock(node) && node.statements.length > 0 && functions.some((is) => is(node.parent))
}

const swapped = new Map([
  [K.EqualsEqualsEqualsToken, ['!==']], [K.ExclamationEqualsEqualsToken, ['===']],
  [K.LessThanToken, ['<=', '>=']], [K.LessThanEqualsToken, ['<', '>']],
  [K.GreaterThanToken, ['>=', '<=']], [K.GreaterThanEqualsToken, ['>', '<']],
  [K.AmpersandAmpersandToken, ['||']], [K.BarBarToken, ['&&']], [K.QuestionQuestionToken, ['&&']],
  [K.PlusToken, ['-']], [K.MinusToken, ['+']], [K.AsteriskToken, ['/']], [K.SlashToken, ['*']],
  [K.PlusEqualsToken, ['-=']], [K.MinusEqualsToken, ['+=']], [K.BarEqualsToken, ['&=']],
  [K.BarBarEqualsToken, ['=', '&&=']], [K.QuestionQuestionEqualsToken, ['=']]
])

/** What may stand in place of an expression. */
function alternatives (node, source) {
  const text = node.getText(source)
  if (ts.isBinaryExpression(node)) {
    const operators = swapped.get(node.operatorToken.kind) ?? []
    const [left, right] = [node.left.getText(source), node.right.getText(source)]
    // `a ?? b && c` is a syntax error.
    const chained = node.operatorToken.kind === K.QuestionQuestionToken ? `(${left})` : left
    const made = operators.map((operator) => `${chained} ${operator} ${right}`)
    return isCondition(node) ? [...made, 'true', 'false'] : made
  }
  if (isCondition(node)) {
    return ts.isPrefixUnaryExpression(node) ? [node.operand.getText(source), 'true', 'false'] : ['true', 'false']
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) return [node.operand.getText(source)]
  const steps = [K.PlusPlusToken, K.MinusMinusToken]
  if (ts.isPostfixUnaryExpression(node) || (ts.isPrefixUnaryExpression(node) && steps.includes(node.operator))) {
    return [text.includes('++') ? text.replace('++', '--') : text.replace('--', '++')]
  }
  if (node.kind === K.TrueKeyword) return ['false']
  if (node.kind === K.FalseKeyword) return ['true']
  if (isName(node)) return []
  if (ts.isNumericLiteral(node)) return numbers(Number(text.replaceAll('_', '')))
  if (ts.isStringLiteral(node)) return [node.text === '' ? "'mutated'" : "''"]
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) return ["''"]
  if (ts.isRegularExpressionLiteral(node)) return regularExpressions(text)
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0 && !isPattern(node)) return ['[]']
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 0 && !isPattern(node)) return ['{}']
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
    return [`${text.slice(0, node.body.getStart(source) - node.getStart(source))} undefined`]
  }
  return []
}

/** One more, and one less. */
function numbers (value) {
  return value > 0 ? [String(value + 1), String(value - 1)] : [String(value + 1)]
}

/** The left side of an assignment that takes something apart. */
function isPattern (node) {
  const { parent } = node
  return ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === K.EqualsToken
}

/** What a branch depends on; of a loop, being true for ever is left out by the time limit. */
function isCondition (node) {
  const { parent } = node
  return ((ts.isIfStatement(parent) || ts.isWhileStatement(parent)) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
}

/** A literal that names a property or belongs to a type. */
function isName (node) {
  const { parent } = node
  const named = [ts.isPropertyAssignment, ts.isMethodDeclaration, ts.isPropertyDeclaration]
  return (named.some((is) => is(parent)) && parent.name === node) ||
    ts.isLiteralTypeNode(parent) || ts.isTaggedTemplateExpression(parent)
}

/** Anchors, flags, repetitions and negations, one by one. */
function regularExpressions (text) {
  const end = text.lastIndexOf('/')
  const [pattern, flags] = [text.slice(1, end), text.slice(end + 1)]
  const made = [...flags].filter((flag) => flag !== 'u').map((flag) => `/${pattern}/${flags.replace(flag, '')}`)
  let inClass = false
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index)
    const put = (length, replacement) => {
      made.push(`/${pattern.slice(0, index)}${replacement}${pattern.slice(index + length)}/${flags}`)
    }
    if (rest[0] === '\\') {
      index++
      continue
    }
    if (rest[0] === '[') {
      inClass = true
      if (rest[1] === '^') put(2, '[')
      else put(1, '[^')
    } else if (rest[0] === ']') inClass = false
    else if (inClass) continue
    else if (rest[0] === '^' || rest[0] === '$') put(1, '')
    else if (rest[0] === '+') put(1, '')
    else if (rest[0] === '*' || (rest[0] === '?' && pattern[index - 1] !== '(')) put(1, '')
    else if (/^\{\d+(?:,\d*)?\}/.test(rest)) put(/^\{[^}]*\}/.exec(rest)[0].length, '')
  }
  return made
}
