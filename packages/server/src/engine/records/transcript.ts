import type { Executor } from '../../platform/db/pool.ts';
import type { CallRow, InteractionRow, MessageRow } from './tables.ts';
import { type Exchange, readTalk } from './talk.ts';

/** What was said in a conversation, and the same with what was done in between, as a judge reads it. */
export type Transcript = {
  said: { role: MessageRow['role']; text: string }[];
  witnessed: { speaker: 'User' | 'Agent' | 'Tool'; text: string }[];
};

const longestPart = 4000;

export const readTranscript = async (db: Executor, conversationId: string): Promise<Transcript> =>
  transcriptOf(await readTalk(db, conversationId));

export const transcriptOf = (exchanges: readonly Exchange[]): Transcript => ({
  said: exchanges
    .flatMap(({ user, reply, agent, work, told }) => [
      ...user,
      ...reply.waits.flatMap(askedAndAnswered),
      ...agent,
      ...work.waits.flatMap(askedAndAnswered),
      ...told,
    ])
    .map(({ role, text }) => ({ role, text })),
  witnessed: exchanges.flatMap(({ user, reply, agent, work, told }) => [
    ...user.map(witnessedMessage),
    ...reply.calls.map(witnessedCall),
    ...agent.map(witnessedMessage),
    ...work.calls.map(witnessedCall),
    ...told.map(witnessedMessage),
  ]),
});

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
function askedAndAnswered({ type, status, questions, answers }: InteractionRow): Transcript['said'] {
  if (type !== 'question' || status === 'pending') return [];
  return (questions ?? []).flatMap((question, at) => [
    { role: 'agent' as const, text: questionText(question) },
    ...(answers ? [{ role: 'user' as const, text: answers[at] ?? '' }] : []),
  ]);
}

/** As a person hears it. */
export const questionText = ({ question, options }: { question: string; options: readonly string[] }) =>
  options.length === 0 ? question : `${question}\n${options.map((each) => `- ${each}`).join('\n')}`;
