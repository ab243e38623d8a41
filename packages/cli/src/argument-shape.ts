import { z } from 'zod';

/** How a value is typed in a shell. */
type Kind =
  | 'text'
  | 'number'
  /** A flag, and `--no-…` for its opposite. */
  | 'boolean'
  /** One of `choices`. */
  | 'choice'
  /** Repeatable, one text each. */
  | 'texts'
  /** `key=value`, repeatable, or a JSON object. */
  | 'labels'
  | 'json'
  /** JSON if it parses as a matching type, else the text itself. */
  | 'mixed';

export type ArgumentShape = {
  kind: Kind;
  choices: readonly (string | number | boolean)[];
  /** For lists: words that replace a whole list and are sent alone, such as `all`. */
  alone: readonly string[];
  isNullable: boolean;
  description: string;
  /** The allowed values in words: `1 to 120 characters`. */
  bounds: string;
  /** The pattern of an id; empty if any text is allowed. */
  pattern: string;
  default: unknown;
};

type ArgumentSchema = {
  type?: string;
  pattern?: string;
  enum?: (string | number | boolean | null)[];
  const?: string | number | boolean | null;
  anyOf?: ArgumentSchema[];
  oneOf?: ArgumentSchema[];
  allOf?: ArgumentSchema[];
  items?: ArgumentSchema;
  properties?: Record<string, ArgumentSchema>;
  additionalProperties?: ArgumentSchema | boolean;
  description?: string;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
};

export function shapeOf(schema: z.ZodType): ArgumentShape {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ArgumentSchema;
  const branches = branchesOf(json);
  const own = branches.filter(({ type }) => type !== 'null');
  return {
    kind: kindOf(own),
    choices: choicesOf(own),
    alone: own.some(isListOfTexts) ? (choicesOf(own.filter(isConstant)) as string[]) : [],
    isNullable: own.length < branches.length,
    description: json.description ?? own.find((each) => each.description)?.description ?? '',
    bounds: own.length === 1 ? boundsOf(own[0] as ArgumentSchema) : '',
    pattern: own.find(({ pattern }) => pattern)?.pattern ?? '',
    default: json.default,
  };
}

function branchesOf(json: ArgumentSchema): ArgumentSchema[] {
  const parts = json.anyOf ?? json.oneOf;
  if (parts) return parts.flatMap(branchesOf);
  if (json.allOf?.length === 1) return branchesOf({ ...json, ...json.allOf[0], allOf: undefined } as ArgumentSchema);
  if (json.const === null) return [{ ...json, type: 'null' }];
  return [json];
}

function kindOf(branches: ArgumentSchema[]): Kind {
  if (branches.every(isConstant)) return 'choice';
  if (branches.every((each) => isConstant(each) || isListOfTexts(each))) return 'texts';
  if (branches.every(({ type }) => type === 'string')) return 'text';
  const [only, ...others] = branches;
  if (!only || others.length > 0) return branches.some(takesText) ? 'mixed' : 'json';
  switch (only.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'object':
      return isLabels(only) ? 'labels' : 'json';
    case 'array':
      return 'json';
    default:
      return 'mixed';
  }
}

const isConstant = (json: ArgumentSchema) => json.enum !== undefined || json.const !== undefined;

const takesText = (json: ArgumentSchema) => json.type === 'string' || json.type === undefined;

function isListOfTexts({ type, items }: ArgumentSchema): boolean {
  return type === 'array' && items !== undefined && branchesOf(items).every((each) => each.type === 'string');
}

function isLabels({ properties, additionalProperties }: ArgumentSchema): boolean {
  return !properties && typeof additionalProperties === 'object' && additionalProperties.type === 'string';
}

/** All allowed words; empty if any text is allowed. */
function choicesOf(branches: ArgumentSchema[]): ArgumentShape['choices'] {
  if (branches.some((each) => isListOfTexts(each) && !branchesOf(each.items as ArgumentSchema).every(isConstant)))
    return [];
  const found = branches.flatMap((each): (string | number | boolean | null)[] => {
    if (each.const !== undefined) return [each.const];
    if (each.enum) return each.enum;
    return isListOfTexts(each) ? [...choicesOf(branchesOf(each.items as ArgumentSchema))] : [];
  });
  return [...new Set(found)].filter((each) => each !== null);
}

function boundsOf(json: ArgumentSchema): string {
  const { minLength, maxLength, maximum, exclusiveMinimum } = json;
  // Zod adds the bounds of a safe integer to every integer, which are not worth showing.
  const minimum = json.minimum === Number.MIN_SAFE_INTEGER ? undefined : json.minimum;
  const top = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (maxLength !== undefined) {
    return minLength ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`;
  }
  if (minimum !== undefined && top !== undefined) return `${minimum} to ${top}`;
  if (exclusiveMinimum !== undefined && top !== undefined) return `above ${exclusiveMinimum}, at most ${top}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return '';
}
