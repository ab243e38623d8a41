import { plainSentence } from './plain-sentence.ts';

/** What a session may be opened with; each switches routes on. */
export const capabilities = ['chat', 'screen', 'voice', 'memory'] as const;
export type Capability = (typeof capabilities)[number];

/**
 * What a session token may do with a route: it is a person's, never the company's. Whatever is not named here is closed,
 * so a field that a schema gains is neither taken from a session nor shown to it until its row opens it.
 */
export type SessionAccess = {
  /** One of these must be switched on; `itself`: any session may, to show and end itself. */
  needs: 'itself' | readonly Capability[];
  /** Names of the body and the query. */
  sends: readonly string[];
  sees: Seen;
  /** What it sees of each event, where the answer may be a stream. */
  follows?: Seen;
};

export type SeenFields = { readonly [field: string]: Seen };

export type Seen =
  /** The value as it is. */
  | true
  /** Of an error its code, with a sentence for people in place of the operator's. */
  | 'plain'
  /** These fields, of an object or of each object in a list. */
  | SeenFields
  /** What is seen beyond `always` is decided by the object's own `type`; of one that is not named, nothing is. */
  | {
      readonly always: SeenFields;
      readonly byType: Readonly<Record<string, SeenFields>>;
      /** A field whose value is looked up behind the type, as `approval.user`; of a value that is not named, the type's own are seen. */
      readonly narrowedBy?: string;
    };

/** `shown('id', 'text')`: these fields as they are. */
export const shown = <Field extends string>(...fields: Field[]): Readonly<Record<Field, true>> =>
  Object.fromEntries(fields.map((field) => [field, true])) as Record<Field, true>;

/** A value as a session sees it. */
export function seenBySession(value: unknown, seen: Seen): unknown {
  if (seen === true || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => seenBySession(each, seen));
  // What the row describes as an object and is none was never opened.
  if (typeof value !== 'object') return undefined;
  const given = value as Record<string, unknown>;
  if (seen === 'plain') return { code: given.code, message: plainSentence(String(given.code)) };
  const picked = Object.entries(fieldsOf(given, seen)).flatMap(([field, inner]) =>
    Object.hasOwn(given, field) ? [[field, seenBySession(given[field], inner)]] : [],
  );
  return Object.fromEntries(picked);
}

function fieldsOf(given: Record<string, unknown>, seen: Exclude<Seen, true | 'plain'>): SeenFields {
  if (!isByType(seen)) return seen;
  const narrow = seen.narrowedBy === undefined ? '' : `${given.type}.${given[seen.narrowedBy]}`;
  const type = Object.hasOwn(seen.byType, narrow) ? narrow : String(given.type);
  return Object.hasOwn(seen.byType, type) ? { ...seen.always, ...seen.byType[type] } : seen.always;
}

/** No field of the wire is named `byType`: those are written in snake case. */
export const isByType = (seen: Seen): seen is Extract<Seen, { byType: unknown }> =>
  typeof seen === 'object' && 'byType' in seen;
