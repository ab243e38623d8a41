import { asc, eq, inArray } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { allMessages } from './store.ts';
import { type CallRow, type MessageRow, runCalls, turns } from './tables.ts';

/** What was said in a conversation, and the same with what was done in between, as a judge reads it. */
export type Transcript = {
  said: { role: MessageRow['role']; text: string }[];
  witnessed: { speaker: 'User' | 'Agent' | 'Tool'; text: string }[];
};

const longestOutput = 4000;

export async function readTranscript(db: Executor, conversationId: string): Promise<Transcript> {
  const turnRows = await db
    .select()
    .from(turns)
    .where(eq(turns.conversation_id, conversationId))
    .orderBy(turns.ordinal);
  const spoken = await allMessages(db, conversationId);
  const runIds = turnRows.flatMap(({ id, task_id }) => (task_id === null ? [id] : [id, task_id]));
  const calls = await db
    .select()
    .from(runCalls)
    .where(inArray(runCalls.run_id, runIds))
    .orderBy(asc(runCalls.step_index), asc(runCalls.position));
  const deedsOf = (runId: string | null) => calls.filter(({ run_id }) => run_id === runId).map(witnessedCall);
  const inOrder = turnRows.map(({ id, task_id }) => {
    const ofTurn = spoken.filter(({ turn_id }) => turn_id === id);
    const by = (role: MessageRow['role']) => ofTurn.filter((message) => message.role === role);
    return { user: by('user'), replied: deedsOf(id), agent: by('agent'), worked: deedsOf(task_id), work: by('work') };
  });
  return {
    said: inOrder.flatMap(({ user, agent, work }) =>
      [...user, ...agent, ...work].map(({ role, text }) => ({ role, text })),
    ),
    witnessed: inOrder.flatMap(({ user, replied, agent, worked, work }) => [
      ...user.map(witnessedMessage),
      ...replied,
      ...agent.map(witnessedMessage),
      ...worked,
      ...work.map(witnessedMessage),
    ]),
  };
}

const witnessedMessage = ({ role, text }: MessageRow) => ({
  speaker: role === 'user' ? ('User' as const) : ('Agent' as const),
  text,
});

const witnessedCall = ({ name, arguments: given, output, is_error }: CallRow) => ({
  speaker: 'Tool' as const,
  text: `${name}(${JSON.stringify(given).slice(0, longestOutput)}) ${is_error ? 'failed' : 'answered'}: ${(output ?? '').slice(0, longestOutput)}`,
});
