import { routes } from '@vestra/contract/api';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { roleMayCall } from '@vestra/contract/role';
import { type Role, type Route, roles } from '@vestra/contract/route';
import type { Plugin } from 'vite';
import { z } from 'zod';

/** Generates modules from the contract at build time, so that the console does not load its schemas. */
export function contractModules(): Plugin {
  const made: Record<string, () => unknown> = {
    'virtual:contract/access': () => Object.fromEntries(routes.map(({ name, route }) => [name, rolesOf(route)])),
    'virtual:contract/fields': () =>
      Object.fromEntries(routes.map(({ name, route }) => [name, { summary: route.summary, fields: fieldsOf(route) }])),
    'virtual:contract/deployment-schema': () => jsonSchema(deploymentFile),
  };
  return {
    name: 'contract-modules',
    resolveId: (id) => (Object.hasOwn(made, id) ? `\0${id}` : undefined),
    load(id) {
      const make = made[id.slice(1)];
      return id.startsWith('\0') && make
        ? `export default JSON.parse(${JSON.stringify(JSON.stringify(make()))});`
        : undefined;
    },
  };
}

/** The roles that may make the call. Null: every member, as for most calls. */
function rolesOf(route: Route): readonly Role[] | null {
  const allowed = roles.filter((role) => roleMayCall(role, route));
  return allowed.length === roles.length ? null : allowed;
}

type Field = {
  description?: string;
  type?: unknown;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  maxLength?: number;
  fields?: Record<string, Field>;
};

/** The help of each field of a call. */
export function fieldsOf(route: Route): Record<string, Field> {
  const shapes = [route.params, route.query, route.body].flatMap((schema) => (schema ? [jsonSchema(schema)] : []));
  const properties = shapes.flatMap((shape) => Object.entries(propertiesOf(shape)));
  return Object.fromEntries(properties.map(([name, field]) => [name, shortened(field)]));
}

type Json = Record<string, unknown>;

/** For maps, such as one entry per deployment, these are the fields of an entry. */
const propertiesOf = (schema: Json): Record<string, Json> => ({
  ...(typeof schema.additionalProperties === 'object' && propertiesOf(schema.additionalProperties as Json)),
  ...(schema.properties as Record<string, Json> | undefined),
  ...Object.assign(
    {},
    ...(((schema.anyOf ?? schema.oneOf ?? schema.allOf) as Json[] | undefined) ?? []).map(propertiesOf),
  ),
});

/** A field with its nested fields. */
function shortened(field: Json): Field {
  const { description, type, default: fallback, example, examples, maxLength } = field;
  const within = Object.entries(propertiesOf(field));
  return {
    ...(typeof description === 'string' && { description }),
    ...(type !== undefined && { type }),
    ...(Array.isArray(field.enum) && { enum: field.enum }),
    ...(fallback !== undefined && { default: fallback }),
    ...(typeof maxLength === 'number' && { maxLength }),
    ...(example !== undefined || examples !== undefined ? { example: example ?? (examples as unknown[])[0] } : {}),
    ...(within.length > 0 && { fields: Object.fromEntries(within.map(([name, inner]) => [name, shortened(inner)])) }),
  };
}

function jsonSchema(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' }) as Json;
}
