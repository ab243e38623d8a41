import { plainSentence } from './plain-sentence.ts';

/** The capabilities of a session; each enables routes. */
export const capabilities = ['chat', 'screen', 'voice', 'memory'] as const;
export type Capability = (typeof capabilities)[number];

/**
 * The permissions of a session token for a route. It belongs to a user, never to the company. Everything not named here
 * is closed, so a new field is neither accepted nor shown until its row exposes it.
 */
export type SessionAccess = {
  /** One of these must be enabled; `itself`: any session may, to show and end itself. */
  needs: 'itself' | readonly Capability[];
  /** Names of body and query fields. */
  sends: readonly string[];
  sees: Seen;
  /** The visible part of each event, if the response may be a stream. */
  follows?: Seen;
};

export type SeenFields = { readonly [field: string]: Seen };

export type Seen =
  /** The unchanged value. */
  | true
  /** An error's code, with a sentence for users instead of the operator's. */
  | 'plain'
  /** These fields of an object, or of each object in a list. */
  | SeenFields
  /** The object's `type` selects the fields beyond `always`; an unlisted type adds none. */
  | {
      readonly always: SeenFields;
      readonly byType: Readonly<Record<string, SeenFields>>;
      /**
       * A field whose value is appended to the type, as in `approval.user`. An unlisted value uses the type's own
       * fields.
       */
      readonly narrowedBy?: string;
    };

/** `shown('id', 'text')`: these fields unchanged. */
export const shown = <Field extends string>(...fields: Field[]): Readonly<Record<Field, true>> =>
  Object.fromEntries(fields.map((field) => [field, true])) as Record<Field, true>;

/** Reduces a value to what a session may see. */
export function seenBySession(value: unknown, seen: Seen): unknown {
  if (seen === true || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => seenBySession(each, seen));
  // A value that should be an object but is not is never exposed.
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

/** No API field is named `byType`: they are in snake case. */
export const isByType = (seen: Seen): seen is Extract<Seen, { byType: unknown }> =>
  typeof seen === 'object' && 'byType' in seen;
