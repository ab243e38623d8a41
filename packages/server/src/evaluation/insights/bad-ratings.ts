import { questionsOfAnswers } from '../../engine/activity/index.ts';
import { mapInParts } from '../../platform/async/breather.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { messageFeedback } from '../tables.ts';
import { comparedText } from './cause-words.ts';
import type { FoundFact } from './insight-fact.ts';

/** Bad ratings of a deployment's answers in the period, newest first. A rating counts when it was last changed. */
export async function badRatings(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  { since, until, limit }: { since: Date; until: Date; limit: number },
): Promise<FoundFact[]> {
  const rows = await rowsOf(
    db,
    messageFeedback,
    sql`SELECT ${columnsOf(messageFeedback)} FROM ${messageFeedback}
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND rating = 'bad'
          AND updated_at >= ${since} AND updated_at < ${until}
        ORDER BY id DESC LIMIT ${limit}`,
  );
  if (rows.length === 0) return [];
  const asked = new Map((await questionsOfAnswers(db, rows)).map((each) => [each.message_id, each]));
  const facts = await mapInParts(rows, ({ conversation_id, message_id, note, updated_at }): FoundFact | null => {
    const answered = asked.get(message_id);
    if (!answered) return null;
    return {
      kind: 'bad_rating',
      subject: '',
      said: comparedText(answered.asked),
      conversationId: conversation_id,
      turnId: answered.turn_id,
      taskId: answered.task_id,
      at: updated_at,
      excerpt: note ?? answered.asked,
    };
  });
  return facts.filter((fact) => fact !== null);
}
