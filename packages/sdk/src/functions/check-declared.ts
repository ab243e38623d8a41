import type { StandardSchema } from './standard-schema.ts';

type Declared = { name: string; input_schema: Record<string, unknown> };
type Served = Readonly<Record<string, { input?: StandardSchema | undefined }>>;

/** The differences between the declared and the served functions, one sentence each. */
export function differencesOf(deployment: string, declared: readonly Declared[], served: Served): string[] {
  const names = new Set(declared.map(({ name }) => name));
  const unknown = Object.keys(served).filter((name) => !names.has(name));
  const missing = declared.filter(({ name }) => !Object.hasOwn(served, name));
  return [
    ...unknown.map((name) => `\`${deployment}\` declares no function \`${name}\`: the agent does not call it.`),
    ...missing.map(({ name }) => `\`${deployment}\` declares \`${name}\`, and nothing here answers it.`),
    ...declared.flatMap(({ name, input_schema }) => {
      const input = Object.hasOwn(served, name) ? served[name]?.input : undefined;
      return input ? differencesOfInput(name, input_schema, input) : [];
    }),
  ];
}

/** Compares the names of arguments and which are required, because these decide whether calls succeed. */
function differencesOfInput(name: string, declared: Record<string, unknown>, input: StandardSchema): string[] {
  const schema = schemaOf(input);
  if (!schema) return [];
  const [told, taken] = [fieldsOf(declared), fieldsOf(schema)];
  const notGiven = [...taken.required].filter((field) => !told.required.has(field));
  const notTaken = [...told.names].filter((field) => taken.isClosed && !taken.names.has(field));
  return [
    ...notGiven.map((field) => {
      const why = told.names.has(field) ? 'the deployment lets the agent leave out' : 'the deployment does not declare';
      return `\`${name}\` needs \`${field}\`, which ${why}.`;
    }),
    ...notTaken.map((field) => `\`${name}\` does not take \`${field}\`, which the deployment declares.`),
  ];
}

/** Null if the library cannot produce a schema. */
function schemaOf(input: StandardSchema): Record<string, unknown> | null {
  try {
    return input['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
  } catch {
    return null;
  }
}

function fieldsOf(schema: Record<string, unknown>) {
  const properties = schema.properties;
  return {
    names: new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : []),
    required: new Set(Array.isArray(schema.required) ? schema.required.map(String) : []),
    isClosed: schema.additionalProperties === false,
  };
}
