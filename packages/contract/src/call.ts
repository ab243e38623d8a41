import type { z } from 'zod';
import type { Route } from './route.ts';

/**
 * What a caller gives to call a row: its params, query and body fields side by side in one object. A body that is no
 * fixed set of fields is given as `body`, an upload as `file`, and a zip sent bare as `zip`.
 */
export type FieldsOf<R extends Route> = Flat<TextFields<R['params']> & TextFields<R['query']> & BodyFields<R>>;

/** What a caller reads: a field that has a default is always there. */
export type AnswerOf<R extends Route> = z.output<R['response']>;

/** Params and query travel as text, so the value that the text stands for is as good as the text. */
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

/** Whether any name may be a field, so that none could be told from those of params and query. */
type IsOpen<Body> = unknown extends Body ? true : string extends keyof Body ? true : false;

type Flat<Fields> = { [Field in keyof Fields]: Fields[Field] };
