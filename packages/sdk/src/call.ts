import type { AnswerOf, FieldsOf, PlanOf } from '@vestra/contract/call';
import type { Route } from '@vestra/contract/route';
import type { StreamEvent } from './stream.ts';
import type { CallOptions } from './transport.ts';

/** One row of the contract as a function: its fields in one object, then the options of the call. */
export type RouteCall<R extends Route> = R extends { streams: true; method: 'GET' }
  ? FollowCall<R>
  : R extends { streams: true }
    ? TalkCall<R>
    : R extends { produces: readonly ['application/yaml'] }
      ? FileCall<R>
      : R extends { dryRun: object }
        ? PlanCall<R>
        : (...given: Given<FieldsOf<R>>) => Promise<AnswerOf<R>>;

/** Returns a stream. If the row also has pages, `format: 'json'` requests one. */
type FollowCall<R extends Route> = 'format' extends keyof FieldsOf<R>
  ? {
      (fields: FieldsOf<R> & { format: 'json' }, options?: CallOptions): Promise<AnswerOf<R>>;
      (fields: Omit<FieldsOf<R>, 'format'>, options?: CallOptions): Promise<AsyncGenerator<StreamEvent>>;
    }
  : (...given: Given<FieldsOf<R>>) => Promise<AsyncGenerator<AnswerOf<R>>>;

/** `stream: true` requests the events of the turn. */
type TalkCall<R extends Route> = 'stream' extends keyof FieldsOf<R>
  ? {
      (fields: FieldsOf<R> & { stream: true }, options?: CallOptions): Promise<AsyncGenerator<StreamEvent>>;
      (...given: Given<Omit<FieldsOf<R>, 'stream'> & { stream?: false }>): Promise<AnswerOf<R>>;
    }
  : (...given: Given<FieldsOf<R>>) => Promise<AnswerOf<R>>;

type FileCall<R extends Route> = {
  (fields: FieldsOf<R> & { format: 'yaml' }, options?: CallOptions): Promise<string>;
  (...given: Given<Omit<FieldsOf<R>, 'format'> & { format?: 'json' }>): Promise<AnswerOf<R>>;
};

/** `dry_run: true` requests the plan, and changes nothing. */
type PlanCall<R extends Route> = {
  (fields: FieldsOf<R> & { dry_run: true }, options?: CallOptions): Promise<PlanOf<R>>;
  (...given: Given<Omit<FieldsOf<R>, 'dry_run' | 'uploads'> & { dry_run?: false }>): Promise<AnswerOf<R>>;
};

/** The object of fields is optional if no field is required. */
type Given<Fields> =
  Partial<Fields> extends Fields ? [fields?: Fields, options?: CallOptions] : [fields: Fields, options?: CallOptions];
