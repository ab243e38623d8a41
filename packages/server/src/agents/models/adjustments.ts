/** Adjustments of requests that a provider required, shared by all processes. Messages never wait for them. */
import type { Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import type { NotifyListener } from '../../platform/db/notify-listener.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../../platform/db/table.ts';
import type { PruneRule } from '../../platform/jobs/retention.ts';
import { modelAdjustments } from './tables.ts';

type LearntAdjustment = { endpoint: string; key: string; model: string; sentence: string };

const channel = 'vestra_model_adjustments';

/** After a week the server asks the provider again in the usual form. */
const keptDays = 7;
/** Expired rules are noticed within this time. */
const readEveryMs = 3_600_000;
/** Bounds the list, also against a provider that names another field each time. */
const maxRows = 2_000;

const isKept = sql`learnt_at > now() - make_interval(days => ${keptDays})`;

export const listAdjustments = (db: Executor): Promise<RowOf<typeof modelAdjustments>[]> =>
  rowsOf(
    db,
    modelAdjustments,
    sql`SELECT ${columnsOf(modelAdjustments)} FROM ${modelAdjustments} WHERE ${isKept}
      ORDER BY learnt_at DESC, key LIMIT ${maxRows}`,
  );

/** Other processes read the list again after the notification. */
async function saveAdjustment(db: Executor, { endpoint, key, model, sentence }: LearntAdjustment): Promise<void> {
  await run(
    db,
    sql`WITH saved AS (
        INSERT INTO ${modelAdjustments} (endpoint, key, model, sentence)
        VALUES (${endpoint}, ${key}, ${model}, ${sentence})
        ON CONFLICT (endpoint, key) DO UPDATE SET model = excluded.model, sentence = excluded.sentence, learnt_at = now()
        RETURNING 1)
      SELECT pg_notify(${channel}, '') FROM saved`,
  );
}

export const adjustmentExpiry: PruneRule = {
  days: keptDays,
  prune: async (db, before, limit) =>
    (await run(
      db,
      sql`DELETE FROM ${modelAdjustments} WHERE (endpoint, key) IN (
        SELECT endpoint, key FROM ${modelAdjustments} WHERE learnt_at < ${before} LIMIT ${limit})`,
    )) === limit,
};

type Dependencies = { db: Database; line: NotifyListener; log: Logger };

export type SharedAdjustments = {
  /** Saves in the background. If that fails, only this process knows the adjustment. */
  save: (adjustment: LearntAdjustment) => void;
  /** Reads what all processes have learnt, now and after each change. */
  follow: (models: Pick<Models, 'restoreAdjustments'>) => Promise<void>;
  /** Waits for what is being saved or read. */
  stop: () => Promise<void>;
};

export function shareAdjustments({ db, line, log }: Dependencies): SharedAdjustments {
  const pending = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  function inBackground(work: Promise<void>, failed: string): void {
    const done = work
      .catch((error: Error) => log.warn({ err: error }, failed))
      .finally(() => {
        pending.delete(done);
      });
    pending.add(done);
  }

  async function read(models: Pick<Models, 'restoreAdjustments'>): Promise<void> {
    const keys = new Map<string, string[]>();
    for (const { endpoint, key } of await listAdjustments(db)) keys.set(endpoint, [...(keys.get(endpoint) ?? []), key]);
    models.restoreAdjustments(keys);
  }

  return {
    save: (adjustment) => inBackground(saveAdjustment(db, adjustment), 'an adjustment of a model was not saved'),
    async follow(models) {
      const readAgain = () => inBackground(read(models), 'the adjustments of models were not read');
      timer = setInterval(readAgain, readEveryMs).unref();
      await line.hear(channel, { onMessage: readAgain, onConnect: readAgain });
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}
