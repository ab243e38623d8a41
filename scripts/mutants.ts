import { parseSync } from 'oxc-parser';

/** One small mistake: the text from `start` to `end` becomes another. */
export type Mutant = { start: number; end: number; becomes: string };

type Node = { type: string; start: number; end: number; [field: string]: unknown };

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
  '&&': '||',
  '||': '&&',
};

/** Every mistake that is tried in a source: conditions, comparisons, operators, literals, statements. */
export function mutantsOf(source: string): Mutant[] {
  const { program, errors } = parseSync('source.ts', source);
  if (errors.length > 0) throw new Error(errors[0]?.message);
  const mutants: Mutant[] = [];
  walk(program as unknown as Node, (node, parent) => mutants.push(...mutantsOfNode(source, node, parent)));
  const seen = new Set<string>();
  return mutants.filter(({ start, end, becomes }) => {
    const name = `${start} ${end} ${becomes}`;
    return source.slice(start, end) !== becomes && !seen.has(name) && seen.add(name);
  });
}

function mutantsOfNode(source: string, node: Node, parent: Node | null): Mutant[] {
  const become = (becomes: string): Mutant => ({ start: node.start, end: node.end, becomes });
  const textOf = (part: unknown) => source.slice((part as Node).start, (part as Node).end);
  const condition = (test: unknown) => {
    const { start, end } = test as Node;
    return ['true', 'false'].map((becomes) => ({ start, end, becomes }));
  };
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return condition(node.test);
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const other = swapped[node.operator as string];
      // `??` with nothing behind it.
      if (node.operator === '??') return [become(textOf(node.left))];
      return other ? [become(`${textOf(node.left)} ${other} ${textOf(node.right)}`)] : [];
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [become(textOf(node.argument))] : [];
    case 'Literal':
      return literals(node, parent).map(become);
    case 'ExpressionStatement':
      return isDirective(node) ? [] : [become('')];
    case 'ReturnStatement':
      return node.argument && parent?.type === 'IfStatement' ? [become('{}')] : [];
    case 'ThrowStatement':
      return [become('{}')];
    default:
      return [];
  }
}

/** Not the names of things, which types hold. */
function literals(node: Node, parent: Node | null): string[] {
  const { value } = node;
  if (parent?.type.startsWith('TS') || parent?.type.startsWith('Import') || parent?.type.startsWith('Export'))
    return [];
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return [String(value + 1)];
  if (typeof value === 'bigint') return [`${value + 1n}n`];
  return [];
}

const isDirective = (node: Node) => typeof node.directive === 'string';

/** Loops keep their conditions: one that never ends tells nothing in useful time. */
function walk(node: Node, visit: (node: Node, parent: Node | null) => void, parent: Node | null = null): void {
  visit(node, parent);
  for (const [field, value] of Object.entries(node)) {
    const isLoopHead = /^(While|DoWhile|For)Statement$/.test(node.type) && field !== 'body';
    if (isLoopHead || node.type.startsWith('TS')) continue;
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) walk(each, visit, node);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
