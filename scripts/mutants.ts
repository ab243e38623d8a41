import { parseSync } from 'oxc-parser';

/** One small mistake: replaces the text from `start` to `end`. */
export type Mutant = { start: number; end: number; becomes: string };

type Node = { type: string; start: number; end: number; [field: string]: unknown };

/** Comparisons shift at their boundary, everything else is negated. */
const swapped: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
};

const swappedMethods: Record<string, string> = { some: 'every', every: 'some', min: 'max', max: 'min' };

/** The mutations of a source, by position. Strings stay, because people read them and no decision depends on them. */
export function mutantsOf(source: string): Mutant[] {
  const seen = new Set<string>();
  return nodesOf(parsed(source))
    .flatMap(([node, parent]) => mistakesIn(source, node, parent))
    .filter((mutant) => {
      const text = mutated(source, mutant);
      if (text === source || seen.has(text) || !isSource(text)) return false;
      seen.add(text);
      return true;
    })
    .sort((one, other) => one.start - other.start);
}

export const mutated = (source: string, { start, end, becomes }: Mutant) =>
  source.slice(0, start) + becomes + source.slice(end);

function mistakesIn(source: string, node: Node, parent: Node | null): Mutant[] {
  const textOf = (part: unknown) => source.slice((part as Node).start, (part as Node).end);
  const replaced = (part: unknown, becomes: string): Mutant => {
    const { start, end } = part as Node;
    return { start, end, becomes };
  };
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      // A guard that is always false is a removed guard.
      return [replaced(node.test, 'true'), replaced(node.test, 'false')];
    case 'LogicalExpression':
      return [
        replaced(node, `(${textOf(node.left)})`),
        ...(node.operator === '??'
          ? []
          : [replaced(node, `(${textOf(node.right)})`), replaced(node, withOperator(node, textOf))]),
      ];
    case 'BinaryExpression':
      if (node.operator === '+' && (isText(node.left) || isText(node.right))) return [];
      return (node.operator as string) in swapped ? [replaced(node, withOperator(node, textOf))] : [];
    case 'AssignmentExpression':
      if (node.operator === '+=') return [replaced(node, `${textOf(node.left)} -= ${textOf(node.right)}`)];
      if (node.operator === '-=') return [replaced(node, `${textOf(node.left)} += ${textOf(node.right)}`)];
      return [];
    case 'UnaryExpression':
      return node.operator === '!' || node.operator === '-' ? [replaced(node, textOf(node.argument))] : [];
    case 'MemberExpression': {
      const name = textOf(node.property);
      return !node.computed && name in swappedMethods && parent?.type === 'CallExpression'
        ? [replaced(node.property, swappedMethods[name] as string)]
        : [];
    }
    case 'ArrayExpression':
      return removals(source, node);
    case 'Literal':
      return literals(node).map((becomes) => replaced(node, becomes));
    case 'ThrowStatement':
    case 'ContinueStatement':
    case 'BreakStatement':
      return parent?.type === 'SwitchCase' ? [] : [replaced(node, '{}')];
    case 'ExpressionStatement':
      return typeof node.directive === 'string' ? [] : [replaced(node, '{}')];
    default:
      return [];
  }
}

const isText = (node: unknown) => typeof (node as Node).value === 'string' && (node as Node).type === 'Literal';

const withOperator = (node: Node, textOf: (part: unknown) => string) =>
  `(${textOf(node.left)} ${swapped[node.operator as string]} ${textOf(node.right)})`;

/** A list without one of its elements. */
function removals(source: string, node: Node): Mutant[] {
  const elements = (node.elements as (Node | null)[]).filter((each) => each !== null);
  return elements.map((left) => {
    const kept = elements.filter((each) => each !== left).map((each) => source.slice(each.start, each.end));
    return { start: node.start, end: node.end, becomes: `[${kept.join(', ')}]` };
  });
}

function literals({ value }: Node): string[] {
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return [`(${value + 1})`, `(${value - 1})`];
  if (typeof value === 'bigint') return [`(${value + 1n}n)`, `(${value - 1n}n)`];
  return [];
}

/** Types have no effect at run time; the expression inside `x as Y` does. */
function nodesOf(node: Node, parent: Node | null = null): [Node, Node | null][] {
  if (node.type === 'ImportDeclaration') return [];
  const inner = node.type.startsWith('TS') ? [node.expression] : Object.values(node).flat();
  return [[node, parent], ...inner.filter(isNode).flatMap((each) => nodesOf(each, node))];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function parsed(source: string): Node {
  const { program, errors } = parseSync('source.ts', source);
  if (errors.length > 0) throw new Error(errors[0]?.message);
  return program as unknown as Node;
}

/** A mutant with a syntax error fails every test and would count as detected. */
const isSource = (text: string) => parseSync('source.ts', text).errors.length === 0;
