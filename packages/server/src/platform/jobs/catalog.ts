import { modes } from '@vestra/contract/route';
import { z } from 'zod';
import type { Executor } from '../db/pool.ts';

/** Above `max_minutes` of any version, including waits for money. */
const maxRunSeconds = 6 * 3600;

const owner = { org_id: z.string(), mode: z.enum(modes), user_id: z.string().nullable() };

const ownerOf = ({ org_id, mode, user_id }: { org_id: string; mode: string; user_id: string | null }): JobOwner => ({
  orgId: org_id,
  mode,
  userId: user_id,
});
const orgOf = ({ org_id }: { org_id: string }): JobOwner => ({ orgId: org_id, userId: null });

/**
 * Every job of the server. A payload contains only ids: the row is the truth, and the job is a hint that the row needs work.
 * A handler reads the row first and must tolerate an extra call.
 */
export const catalog = {
  'ledger.fold': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 3,
    expireInSeconds: 300,
    concurrency: 1,
  }),
  'usage.sum': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 60,
    // A retry continues with the days that are left.
    expireInSeconds: 3600,
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
  'user.stop': job({
    payload: z.strictObject({ org_id: z.string(), mode: z.enum(modes), user_id: z.string() }),
    policy: 'standard',
    key: ({ org_id, mode, user_id }) => `${org_id} ${mode} ${user_id}`,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: 3600,
    concurrency: 4,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
  }),
  'deployment.stop': job({
    payload: z.strictObject({ org_id: z.string(), deployment_id: z.string() }),
    policy: 'standard',
    key: ({ deployment_id }) => deployment_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: 3600,
    concurrency: 4,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
  }),
  'knowledge.empty': job({
    payload: z.strictObject({ org_id: z.string(), object: z.enum(['document', 'notebook', 'skill']), id: z.string() }),
    policy: 'standard',
    key: ({ id }) => id,
    retries: { limit: 20, delaySeconds: 5, maxDelaySeconds: 600 },
    // A retry continues with the conversations that are left.
    expireInSeconds: 6 * 3600,
    concurrency: 2,
    share: { of: orgOf, ofOrg: 1, ofUser: 1 },
  }),
  'turn.run': job({
    payload: z.strictObject({ ...owner, conversation_id: z.string(), turn_id: z.string() }),
    policy: 'standard',
    key: ({ turn_id }) => turn_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: maxRunSeconds,
    concurrency: 96,
    share: { of: ownerOf, ofOrg: 64, ofUser: 32 },
  }),
  'task.run': job({
    payload: z.strictObject({ ...owner, conversation_id: z.string(), task_id: z.string() }),
    policy: 'standard',
    key: ({ task_id }) => task_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    expireInSeconds: maxRunSeconds,
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
    // As long as a test run, because a conversation has no more messages than a scenario.
    expireInSeconds: 86_400,
    concurrency: 6,
    share: { of: orgOf, ofOrg: 4, ofUser: 4 },
  }),
  'improvement.run': job({
    payload: z.strictObject({ org_id: z.string(), improvement_id: z.string() }),
    policy: 'standard',
    key: ({ improvement_id }) => improvement_id,
    retries: { limit: 20, delaySeconds: 2, maxDelaySeconds: 60 },
    // It plays several test runs, one conversation at a time.
    expireInSeconds: 86_400,
    concurrency: 4,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
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
    // A retry resumes where it stopped. A slow encoder takes about ten minutes for the largest document.
    expireInSeconds: 3600,
    // The encoder runs one batch at a time. A second job reads and stores meanwhile, and a third serves another org.
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
  'computer.tidy': job({
    payload: z.strictObject(owner),
    policy: 'standard',
    key: ({ org_id, mode, user_id }) => `${org_id} ${mode} ${user_id ?? ''}`,
    retries: { limit: 20, delaySeconds: 5, maxDelaySeconds: 600 },
    expireInSeconds: 600,
    concurrency: 4,
    share: { of: orgOf, ofOrg: 2, ofUser: 2 },
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
  'memory.embed': job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 60,
    // A retry continues with the facts that are left.
    expireInSeconds: 3600,
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

export type JobRow<Schema extends z.ZodType = z.ZodType> = JobSettings<Schema> & Policy<Schema>;

type JobSettings<Schema extends z.ZodType> = {
  /** Must have no transforms, because it is parsed when the job is sent and again when it runs. */
  payload: Schema;
  /** Must be above the longest run: a job that still runs then is aborted and starts again. */
  expireInSeconds: number;
  /** How many run at once in one worker process. */
  concurrency: number;
  /**
   * The owner of the job, and how many runs of one process an org and a user may have, so that nobody can block others. The
   * next job is from the org with the fewest running, and within it from the user with the fewest.
   */
  share?: { of(payload: z.output<Schema>): JobOwner; ofOrg: number; ofUser: number };
};

export type JobOwner = { orgId: string; mode?: string | undefined; userId: string | null };

type Policy<Schema extends z.ZodType> =
  | { policy: 'standard'; key?(payload: z.output<Schema>): string; retries: Retries }
  /** One job for the whole installation that runs again `everySeconds` after each end, even after a failure. Never sent. */
  | { policy: 'recurring'; everySeconds: number };

/** How often a job is retried after its handler throws. The death of a worker does not count. */
type Retries = { limit: number; delaySeconds: number; maxDelaySeconds: number };

export type JobCatalog = Record<string, JobRow>;

export type JobName<Catalog extends JobCatalog = typeof catalog> = keyof Catalog & string;

export type JobPayload<Name extends JobName<Catalog>, Catalog extends JobCatalog = typeof catalog> = z.output<
  Catalog[Name]['payload']
>;

/** Sends jobs in the transaction that writes their row, so that both are committed or neither is. */
export type JobSender<Catalog extends JobCatalog = typeof catalog> = {
  /** Returns the id of the job. */
  send<Name extends JobName<Catalog>>(
    executor: Executor,
    name: Name,
    payload: JobPayload<Name, Catalog>,
  ): Promise<string>;
  /** Sends many jobs of one kind in one statement, in this order. */
  sendMany<Name extends JobName<Catalog>>(
    executor: Executor,
    name: Name,
    payloads: JobPayload<Name, Catalog>[],
  ): Promise<string[]>;
};

/** Infers the type of the payload for `key` and `share`. */
export function job<Schema extends z.ZodType>(row: JobRow<Schema>): JobRow<Schema> {
  return row;
}
