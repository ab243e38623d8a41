import type { Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { insert, maybeOne, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../platform/db/table.ts';
import { type ClientAnswer, clientAnswers } from './tables.ts';

const columns = columnsOf(clientAnswers);

/** A repeat with the same Idempotency-Key returns the stored answer. */
export const insertAnswer = async (db: Executor, row: NewRowOf<typeof clientAnswers>): Promise<ClientAnswer> =>
  (await insert(db, clientAnswers, row, {
    onConflict: sql`(id) DO UPDATE SET request_digest = EXCLUDED.request_digest`,
  })) as ClientAnswer;

export const findAnswer = (db: Executor, { orgId, mode }: Tenant, id: string): Promise<ClientAnswer | undefined> =>
  maybeOne(
    db,
    clientAnswers,
    sql`SELECT ${columns} FROM client_answers WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode}`,
  );

/** The answer at the end of a history that the client sends in full. */
export const answerOfTalk = (
  db: Executor,
  { orgId, mode }: Tenant,
  talkDigest: string,
): Promise<ClientAnswer | undefined> =>
  maybeOne(
    db,
    clientAnswers,
    sql`SELECT ${columns} FROM client_answers
      WHERE org_id = ${orgId} AND mode = ${mode} AND talk_digest = ${talkDigest} ORDER BY created_at DESC LIMIT 1`,
  );

/** The answer of the same request within the last 15 minutes. */
export const latestAnswerTo = (
  db: Executor,
  { orgId, mode }: Tenant,
  requestDigest: string,
): Promise<ClientAnswer | undefined> =>
  maybeOne(
    db,
    clientAnswers,
    sql`SELECT ${columns} FROM client_answers
      WHERE org_id = ${orgId} AND mode = ${mode} AND request_digest = ${requestDigest}
        AND created_at > now() - interval '15 minutes' ORDER BY created_at DESC LIMIT 1`,
  );

export async function noteTalk(db: Executor, { id }: ClientAnswer, talkDigest: string): Promise<void> {
  await run(db, sql`UPDATE client_answers SET talk_digest = ${talkDigest} WHERE id = ${id}`);
}
