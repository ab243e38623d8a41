import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeArguments } from '@vestra/agent/call-arguments';
import type { JsonSchema } from '@vestra/agent/message';
import { describe, expect, it } from 'vitest';
import { createSchemas } from '../../platform/json-schema/schemas.ts';
import { headerFault } from '../mcp-client/tool-list.ts';
import { toolsForModel } from './model-tools.ts';
import type { ReachableServer } from './server-access.ts';

type RealTool = { name: string; description: string; inputSchema: JsonSchema; annotations: { readOnlyHint?: boolean } };
type RealServer = { server: string; version: string; tools: RealTool[] };

/** The lists of real servers, written by `scripts/list-tool-schemas.ts`. */
const file = join(import.meta.dirname, '../../../../models/src/testing/real-tool-schemas.json');
const servers: RealServer[] = JSON.parse(readFileSync(file, 'utf8'));

const schemas = createSchemas();

const access = {
  ok: true,
  server: { slug: 'real', deny: [], require_approval: [], sampling: false },
  hide: (text: string) => text,
} as unknown as ReachableServer;

it('has the tools of at least 12 servers [MCPS-700]', () => {
  expect(servers.length).toBeGreaterThanOrEqual(12);
  expect(servers.every(({ tools }) => tools.length > 0)).toBe(true);
});

describe.each(servers)('the tools of $server $version', ({ tools }) => {
  it('reach the model unchanged, with names that vendors accept [MCPS-700, MCPS-713]', () => {
    const offered = tools.map(({ annotations, ...tool }) => ({
      ...tool,
      isReadOnly: annotations.readOnlyHint === true,
      isRepeatable: false,
      priceUsd: null,
    }));
    const made = toolsForModel(offered, access, { policy: null, definitions: new WeakMap() });
    expect(made.map(({ tool }) => tool.definition.inputSchema)).toEqual(tools.map(({ inputSchema }) => inputSchema));
    expect(made.map(({ tool }) => tool.definition.description)).toEqual(tools.map(({ description }) => description));
    for (const { tool } of made) expect(tool.definition.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it('have schemas that we can check, and no forbidden headers [MCPS-700]', () => {
    expect(tools.flatMap(({ inputSchema }) => schemas.faultOf(inputSchema) ?? headerFault(inputSchema) ?? [])).toEqual(
      [],
    );
  });

  it('can be called with the required arguments that have no default, and null for absent ones [MCPS-720]', () => {
    for (const { name, inputSchema } of tools) {
      const given = leastArguments(inputSchema);
      const validity = schemas.validate(inputSchema, completeArguments(given, inputSchema));
      expect([name, validity]).toEqual([name, { ok: true }]);
    }
  });
});

/** A value for each required property without a default, and null for all others: so models in strict mode call tools. */
function leastArguments(schema: JsonSchema): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema.required ?? []) as string[];
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => {
      const isNeeded = required.includes(name) && inner.default === undefined;
      return [name, isNeeded ? valueFor(inner, schema) : null];
    }),
  );
}

const formats: Record<string, string> = {
  uri: 'https://a.example',
  uuid: '00000000-0000-0000-0000-000000000000',
};

function valueFor(written: JsonSchema, root: JsonSchema): unknown {
  const schema = typeof written.$ref === 'string' ? targetOf(written.$ref, root) : written;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [first] = [schema.anyOf ?? schema.oneOf ?? []].flat() as JsonSchema[];
  if (first) return valueFor(first, root);
  switch ([schema.type].flat()[0]) {
    case 'string':
      return formats[String(schema.format)] ?? 'a'.repeat(Math.max(1, Number(schema.minLength ?? 1)));
    case 'number':
    case 'integer':
      return Number(schema.minimum ?? schema.exclusiveMinimum ?? 0) + 1;
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => valueFor(schema.items as JsonSchema, root));
    case 'object':
      return leastArguments({ ...schema, $defs: root.$defs, definitions: root.definitions });
    default:
      return 'a';
  }
}

const targetOf = (reference: string, root: JsonSchema): JsonSchema =>
  reference
    .slice(2)
    .split('/')
    .reduce<JsonSchema>((node, name) => (node[name] ?? {}) as JsonSchema, root);
