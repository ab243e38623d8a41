import { modes } from '@vestra/contract/route';
import { z } from 'zod';
import type { Executor } from '../db/pool.ts';

/** Above `max_minutes` of any version, with the waits for money in between. */
const longestRunSeconds = 6 * 3600;

const owner = { org_id: z.string(), mode: z.enum(modes), user_id: z.string().nullable() };

const ownerOf = ({ org_id, mode, user_id }: { org_id: string; mode: string; user_id: string | null }): JobOwner => ({
  orgId: org_id,
  mode,
  userId: user_id,
});
const orgOf = ({ org_id }: { org_id: string }): JobOwner => ({ orgId: org_id, userId: null });

/**
 * Every job of the server. A payload names rows and holds nothing else that matters: the row is the truth, the job a
 * hint that there is work, so a handler looks at the row first and may be called once too often.
 */
export const catalog = {
  'ledger.fold': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 3,
    expireInSeconds: 300,
    concurrency: 1,
  }),
  'user.erase': job({
    payload: z.strictObject({ org_id: z.string(), mode: z.enum(modes), user_id: z.string() }),
    policy: 'standard',
    key: ({ org_id, mode, user_id }) => `${org_id} ${mode} ${user_id}`,
    retries: { limit: 20, delaySeconds: 5, maxDelaySeconds: 600 },
    expireInSeconds: 3600,
    concurrency: 4,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
  }),
  'turn.run': job({
    payload: z.strictObject({ ...owner, conversation_id: z.string(), turn_id: z.string() }),
    policy: 'standard',
    key: ({ turn_id }) => turn_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: longestRunSeconds,
    concurrency: 96,
    share: { of: ownerOf, ofOrg: 64, ofUser: 32 },
  }),
  'task.run': job({
    payload: z.strictObject({ ...owner, conversation_id: z.string(), task_id: z.string() }),
    policy: 'standard',
    key: ({ task_id }) => task_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: longestRunSeconds,
    concurrency: 96,
    share: { of: ownerOf, ofOrg: 64, ofUser: 32 },
  }),
  'test_run.play': job({
    payload: z.strictObject({ org_id: z.string(), run_id: z.string() }),
    policy: 'standard',
    key: ({ run_id }) => run_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    // A scenario may take as long as twelve messages of a version with the highest limits.
    expireInSeconds: 86_400,
    concurrency: 12,
    share: { of: orgOf, ofOrg: 8, ofUser: 8 },
  }),
  'replay.play': job({
    payload: z.strictObject({ org_id: z.string(), replay_id: z.string() }),
    policy: 'standard',
    key: ({ replay_id }) => replay_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    // As long as a test run: a talk has as many messages as a scenario at most.
    expireInSeconds: 86_400,
    concurrency: 6,
    share: { of: orgOf, ofOrg: 4, ofUser: 4 },
  }),
  'batch.advance': job({
    payload: z.strictObject({ org_id: z.string(), mode: z.enum(modes), batch_id: z.string() }),
    policy: 'standard',
    key: ({ batch_id }) => batch_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: 3600,
    concurrency: 6,
    share: { of: orgOf, ofOrg: 4, ofUser: 4 },
  }),
  'document.index': job({
    payload: z.strictObject({ org_id: z.string(), document_id: z.string() }),
    policy: 'standard',
    key: ({ document_id }) => document_id,
    retries: { limit: 20, delaySeconds: 5, maxDelaySeconds: 600 },
    // It goes on where it was: a slow encoder takes some ten minutes for the largest document.
    expireInSeconds: 3600,
    // The encoder does one batch at a time; the second job stores and reads meanwhile, and the third is another org's.
    concurrency: 3,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
  }),
  'computer.warm': job({
    payload: z.strictObject({ org_id: z.string(), mode: z.enum(modes), user_id: z.string() }),
    policy: 'standard',
    key: ({ org_id, mode, user_id }) => `${org_id} ${mode} ${user_id}`,
    retries: { limit: 2, delaySeconds: 2, maxDelaySeconds: 10 },
    // Repositories and the setup of a computer may take ten minutes each.
    expireInSeconds: 7200,
    concurrency: 20,
    share: { of: orgOf, ofOrg: 10, ofUser: 10 },
  }),
  'connection.settle': job({
    payload: z.strictObject({ org_id: z.string(), mode: z.enum(modes), connection_id: z.string() }),
    policy: 'standard',
    key: ({ connection_id }) => connection_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: 600,
    concurrency: 8,
    share: { of: orgOf, ofOrg: 4, ofUser: 4 },
  }),
  'interaction.expire': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 2,
    expireInSeconds: 300,
    concurrency: 1,
  }),
  'routine.run_due': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 5,
    expireInSeconds: 3600,
    concurrency: 1,
  }),
  'memory.keep': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 5,
    expireInSeconds: 600,
    concurrency: 1,
  }),
  housekeeping: job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 3600,
    expireInSeconds: 1800,
    concurrency: 1,
  }),
  retention: job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 60,
    expireInSeconds: 1800,
    concurrency: 1,
  }),
};

export type JobRow<Schema extends z.ZodType = z.ZodType> = Work<Schema> & Policy<Schema>;

type Work<Schema extends z.ZodType> = {
  /** Without transforms: it is parsed when the job is sent and again, from what was stored, when it is run. */
  payload: Schema;
  /**
   * Above the longest run: a job that is still running then has its signal aborted and starts a second time.
   */
  expireInSeconds: number;
  /** Runs at once in one worker process. */
  concurrency: number;
  /**
   * Whose job it is, and how many of one process's runs are one org's and one user's at most: nobody's many keep another's
   * few waiting. Of those that wait the one whose org has least running comes first, and then whose user has.
   */
  share?: { of(payload: z.output<Schema>): JobOwner; ofOrg: number; ofUser: number };
};

export type JobOwner = { orgId: string; mode?: string | undefined; userId: string | null };

type Policy<Schema extends z.ZodType> =
  | { policy: 'standard'; key?(payload: z.output<Schema>): string; retries: Retries }
  /**
   * One job for the whole installation that comes back `everySeconds` after each end, whether the run succeeded or
   * failed. It is never sent.
   */
  | { policy: 'recurring'; everySeconds: number };

/** How often a job whose handler throws is tried again. A worker that dies uses up none of it. */
type Retries = { limit: number; delaySeconds: number; maxDelaySeconds: number };

export type JobCatalog = Record<string, JobRow>;

export type JobName<Catalog extends JobCatalog = typeof catalog> = keyof Catalog & string;

export type JobPayload<Name extends JobName<Catalog>, Catalog extends JobCatalog = typeof catalog> = z.output<
  Catalog[Name]['payload']
>;

/** What a use case is given: the job is sent in the transaction that writes the row it is about. */
export type JobSender<Catalog extends JobCatalog = typeof catalog> = {
  /** The id of the job. */
  send<Name extends JobName<Catalog>>(
    executor: Executor,
    name: Name,
    payload: JobPayload<Name, Catalog>,
  ): Promise<string>;
  /** Many jobs of one kind in one statement, in this order. */
  sendMany<Name extends JobName<Catalog>>(
    executor: Executor,
    name: Name,
    payloads: JobPayload<Name, Catalog>[],
  ): Promise<string[]>;
};

/** Lets `key` and `share` see the payload's type. */
export function job<Schema extends z.ZodType>(row: JobRow<Schema>): JobRow<Schema> {
  return row;
}
