import type { Executor } from '../../../db/pool.ts';
import { questionsOfRuns } from './interactions.ts';
import { allMessages } from './messages.ts';
import type { CallRow, InteractionRow, MessageRow } from './tables.ts';
import { callsOfRuns } from './trace-store.ts';
import { turnsOf } from './turns.ts';

/** What was said in a conversation, and the same with what was done in between, as a judge reads it. */
export type Transcript = {
  said: { role: MessageRow['role']; text: string }[];
  witnessed: { speaker: 'User' | 'Agent' | 'Tool'; text: string }[];
};

const longestPart = 4000;

export async function readTranscript(db: Executor, conversationId: string): Promise<Transcript> {
  const turnRows = await turnsOf(db, conversationId);
  const spoken = await allMessages(db, conversationId);
  const runIds = turnRows.flatMap(({ id, task_id }) => (task_id === null ? [id] : [id, task_id]));
  const calls = await callsOfRuns(db, runIds);
  const asked = await questionsOfRuns(db, runIds);
  const questionsOf = (runId: string | null) =>
    asked.filter(({ run_id }) => run_id === runId).flatMap(askedAndAnswered);
  const deedsOf = (runId: string | null) => calls.filter(({ run_id }) => run_id === runId).map(witnessedCall);
  const inOrder = turnRows.map(({ id, task_id }) => {
    const ofTurn = spoken.filter(({ turn_id }) => turn_id === id);
    const by = (role: MessageRow['role']) => ofTurn.filter((message) => message.role === role);
    return {
      user: by('user'),
      askedInReply: questionsOf(id),
      replied: deedsOf(id),
      agent: by('agent'),
      askedInWork: questionsOf(task_id),
      worked: deedsOf(task_id),
      work: by('work'),
    };
  });
  return {
    said: inOrder
      .flatMap(({ user, askedInReply, agent, askedInWork, work }) => [
        ...user,
        ...askedInReply,
        ...agent,
        ...askedInWork,
        ...work,
      ])
      .map(({ role, text }) => ({ role, text })),
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

export const witnessedCall = ({ name, arguments: given, output, is_error }: CallRow) => ({
  speaker: 'Tool' as const,
  text: `${name}(${bounded(JSON.stringify(given))}) ${is_error ? 'failed' : 'answered'}: ${bounded(output ?? '')}`,
});

/** A judge that does not know that something was left out takes what it does not see for what is not there. */
const bounded = (text: string) =>
  text.length <= longestPart
    ? text
    : `${text.slice(0, longestPart).toWellFormed()} [cut: the first ${longestPart} of ${text.length} characters]`;

/** A question that is still open has no place in what was said: whoever answers it says both. */
function askedAndAnswered({ status, questions, answers }: InteractionRow): Transcript['said'] {
  if (status === 'pending') return [];
  return (questions ?? []).flatMap((question, at) => [
    { role: 'agent' as const, text: questionText(question) },
    ...(answers ? [{ role: 'user' as const, text: answers[at] ?? '' }] : []),
  ]);
}

/** As a person hears it. */
export const questionText = ({ question, options }: { question: string; options: readonly string[] }) =>
  options.length === 0 ? question : `${question}\n${options.map((each) => `- ${each}`).join('\n')}`;
