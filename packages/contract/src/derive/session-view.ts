import { z } from 'zod';
import { type Route, sessionAccessOf } from '../route.ts';
import { isByType, type Seen, type SeenFields } from '../session-access.ts';

/** The response of a row for a session token. */
export function sessionResponse(route: Route): z.ZodType {
  const access = sessionAccessOf(route);
  return access ? seenSchema(route.response, access.sees) : z.never();
}

/** One event of a streaming row for a session token. */
export function sessionEvent(route: Route, event: z.ZodType): z.ZodType {
  return seenSchema(event, sessionAccessOf(route)?.follows ?? {});
}

/** Dotted paths of the response fields that a session token never receives. */
export function hiddenFields(route: Route): string[] {
  const seen = new Set(pathsOf(sessionResponse(route)));
  const hidden = pathsOf(route.response).filter((path) => !seen.has(path));
  // Parts of a hidden field need no separate entry.
  return hidden.filter((path) => !hidden.some((other) => path.startsWith(`${other}.`)));
}

function seenSchema(schema: z.ZodType, seen: Seen): z.ZodType {
  if (seen === true || seen === 'plain') return schema;
  if (schema instanceof z.ZodNullable) return seenSchema(schema.unwrap() as z.ZodType, seen).nullable();
  if (schema instanceof z.ZodOptional) return seenSchema(schema.unwrap() as z.ZodType, seen).optional();
  if (schema instanceof z.ZodArray) return z.array(seenSchema(schema.element as z.ZodType, seen));
  if (schema instanceof z.ZodDiscriminatedUnion) return seenOfEach(schema.options as z.ZodObject[], seen);
  // For an open map only names are selected; the schema stays open.
  if (!(schema instanceof z.ZodObject)) return schema;
  if (!isByType(seen)) return picked(schema, seen);
  const variants = [...new Set(Object.values(seen.byType))].map((fields) =>
    picked(schema, { ...seen.always, ...fields }),
  );
  return z.union(variants as [z.ZodType, ...z.ZodType[]]);
}

/** Each option has its own `type`. */
function seenOfEach(options: readonly z.ZodObject[], seen: Exclude<Seen, true | 'plain'>): z.ZodType {
  const seenOption = (option: z.ZodObject) => {
    if (!isByType(seen)) return picked(option, seen);
    const { value } = option.shape.type as z.ZodLiteral<string>;
    return picked(option, { ...seen.always, ...seen.byType[value] });
  };
  return z.union(options.map(seenOption) as [z.ZodType, ...z.ZodType[]]);
}

function picked(schema: z.ZodObject, seen: SeenFields): z.ZodType {
  const shape = Object.entries(seen).map(([name, inner]) => {
    const field = schema.shape[name] as z.ZodType | undefined;
    if (!field) throw new Error(`A session is to see \`${name}\`, which the answer does not have.`);
    return [name, seenSchema(field, inner)];
  });
  return z.strictObject(Object.fromEntries(shape));
}

/** Every field of the schema, also in lists and optional values. */
function pathsOf(schema: z.ZodType, path = ''): string[] {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return pathsOf(schema.unwrap() as z.ZodType, path);
  if (schema instanceof z.ZodArray) return pathsOf(schema.element as z.ZodType, path);
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap((each) => pathsOf(each, path));
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]) => [
    `${path}${name}`,
    ...pathsOf(field, `${path}${name}.`),
  ]);
}
