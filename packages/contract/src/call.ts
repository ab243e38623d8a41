import type { z } from 'zod';
import type { Route } from './route.ts';

/**
 * The input of a row: its params, query and body fields in one object. A body without a fixed set of fields is passed
 * as `body`, an upload as `file`, and a zip body as `zip`.
 */
export type FieldsOf<R extends Route> = Flat<TextFields<R['params']> & TextFields<R['query']> & BodyFields<R>>;

/** The output of a row: a field with a default is always present. */
export type AnswerOf<R extends Route> = z.output<R['response']>;

/** The output of a row for `dry_run=true`. */
export type PlanOf<R extends Route> = R extends { dryRun: infer Plan extends z.ZodType } ? z.output<Plan> : never;

/** Params and query are sent as text, so callers may pass the parsed value or the text. */
type TextFields<Schema> = Schema extends z.ZodObject ? Either<z.input<Schema>, z.output<Schema>> : unknown;

type Either<Written, Meant> = {
  [Field in keyof Written]: Written[Field] | (Field extends keyof Meant ? Meant[Field] : never);
};

type BodyFields<R extends Route> = R extends { accepts: readonly (infer Accepted)[] }
  ?
      | ('application/json' extends Accepted ? JsonFields<R> : never)
      | ('multipart/form-data' extends Accepted ? { file: Blob } : never)
      | ('application/zip' extends Accepted ? { zip: Blob } : never)
  : JsonFields<R>;

type JsonFields<R extends Route> = R extends { body: infer Body extends z.ZodType }
  ? IsOpen<z.input<Body>> extends true
    ? R extends { bodyOptional: true }
      ? { body?: z.input<Body> }
      : { body: z.input<Body> }
    : z.input<Body>
  : unknown;

/** Whether any name may be a field, so that fields could collide with params and query. */
type IsOpen<Body> = unknown extends Body ? true : string extends keyof Body ? true : false;

type Flat<Fields> = { [Field in keyof Fields]: Fields[Field] };
