/** The calls in which agents read documents, notebooks and skills. A deletion empties their results. */
import { marksIn, mayHaveMarks } from '@vestra/contract/source-marks';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { maybeOne, pipelined, rowsOf, runStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import type { Change } from './change.ts';
import { emptyStepsStatement } from './conversation-log.ts';
import { forgetSummaries } from './redaction.ts';
import type { CitedPassage, RunSubject } from './tables.ts';

/** A document, a notebook or a skill that was deleted. */
export type DeletedKnowledge = { orgId: string; object: 'document' | 'notebook' | 'skill'; id: string };

type KnowledgeCall = { id: string; conversation_id: string };

const toolsThatRead = ({ object }: DeletedKnowledge) =>
  object === 'skill' ? ['use_skill'] : ['search_notebooks', 'read_document'];

/** Must match the condition of the partial index `run_calls_without_sources`. */
const isUnknown = sql`call.sources IS NULL AND call.name IN ('search_notebooks', 'read_document', 'use_skill')`;

/** The run of a call is a reply or a task. */
const ofOrg = (orgId: string) => sql`CROSS JOIN LATERAL (
    SELECT conversation_id FROM turns WHERE id = call.run_id AND org_id = ${orgId}
    UNION ALL SELECT conversation_id FROM tasks WHERE id = call.run_id AND org_id = ${orgId}) AS run`;

/**
 * One page of calls that show the deleted content, in the order of their ids. Calls from before sources were recorded may
 * show it too, and are included.
 */
export async function callsThatRead(
  db: Executor,
  deleted: DeletedKnowledge,
  { after, limit }: { after: string; limit: number },
): Promise<KnowledgeCall[]> {
  const page = sql`call.id > ${after} ORDER BY call.id LIMIT ${limit}`;
  return rowsOf(
    db,
    { id: text(), conversation_id: text() },
    sql`(SELECT call.id, run.conversation_id FROM run_calls AS call ${ofOrg(deleted.orgId)}
        WHERE call.sources <> '{}' AND call.sources @> ARRAY[${deleted.id}]::text[] AND ${page})
      UNION ALL
      (SELECT call.id, run.conversation_id FROM run_calls AS call ${ofOrg(deleted.orgId)}
        WHERE ${isUnknown} AND call.name = ANY(${toolsThatRead(deleted)}) AND call.output IS NOT NULL AND ${page})
      ORDER BY id LIMIT ${limit}`,
  );
}

/** Empties these calls of a conversation, and the summaries that may repeat them. */
export async function emptyKnowledgeCalls(change: Change, callIds: readonly string[]): Promise<void> {
  const { tx, conversation } = change;
  await pipelined(tx, [
    runStatement(sql`UPDATE run_calls SET arguments = '{}', sources = '{}', media = NULL,
        output = 'This result was deleted, because something that it showed was deleted.'
      WHERE id = ANY(${callIds})`),
    emptyStepsStatement([conversation.id], callIds),
  ]);
  await forgetSummaries(change, '');
}

/** The passages that the calls of a conversation showed: those of other runs first, and then those of this one. */
export async function passagesOfConversation(
  db: Executor,
  conversationId: string,
  runId: string,
): Promise<CitedPassage[]> {
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ${conversationId}
    UNION ALL SELECT task_id FROM turns WHERE conversation_id = ${conversationId} AND task_id IS NOT NULL`;
  const rows = await rowsOf(
    db,
    { passages: jsonb<CitedPassage[]>() },
    sql`SELECT passages FROM run_calls WHERE run_id IN (${runs}) AND passages IS NOT NULL
      ORDER BY run_id = ${runId}, run_id, step_index, position`,
  );
  return rows.flatMap(({ passages }) => passages);
}

/** More than a reader follows, and fewer than a model can write. */
const mostSources = 50;

/**
 * The passages that a text cites, in the order of their first mark. A mark without a passage in this conversation is text.
 * Null if there is none. Structured answers are not searched: their lists of numbers look like marks.
 */
export async function passagesCitedIn(
  db: Executor,
  { turn, task }: RunSubject,
  text: string,
): Promise<CitedPassage[] | null> {
  if (!mayHaveMarks(text) || turn.request.output_schema !== undefined) return null;
  const marks = marksIn(text);
  if (marks.length === 0) return null;
  const shown = await passagesOfConversation(db, turn.conversation_id, task?.id ?? turn.id);
  const byMark = new Map(shown.map((passage) => [passage.mark, passage]));
  const cited = marks.flatMap((mark) => byMark.get(mark) ?? []);
  return cited.length === 0 ? null : cited.slice(0, mostSources);
}

/** Calls of open runs that may have read the content before its deletion, and record it later. */
export async function callsUnderWay(db: Database, deleted: DeletedKnowledge): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT call.id FROM runs JOIN run_calls AS call ON call.run_id = runs.id ${ofOrg(deleted.orgId)}
      WHERE call.name = ANY(${toolsThatRead(deleted)}) AND call.started_at IS NOT NULL AND call.finished_at IS NULL`,
  );
  return rows.map(({ id }) => id);
}

export async function isAnyUnderWay(db: Executor, callIds: readonly string[]): Promise<boolean> {
  const open = sql`SELECT call.id FROM run_calls AS call JOIN runs ON runs.id = call.run_id
    WHERE call.id = ANY(${callIds}) AND call.finished_at IS NULL LIMIT 1`;
  return (await maybeOne(db, { id: text() }, open)) !== undefined;
}
