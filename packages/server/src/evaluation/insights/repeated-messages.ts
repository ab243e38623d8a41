import type { UserMessage } from '../../engine/activity/index.ts';
import { sharedWords, stemsOf } from './cause-words.ts';
import type { InsightFact } from './insight-fact.ts';

/** Two messages with this share of words in common say the same. */
const leastShared = 0.6;
/** "Yes" and "thank you" are no questions that somebody repeats. */
const leastWords = 2;
/** A message is compared with so many messages before it. */
const maxCompared = 20;

/** Messages that say nearly the same as an earlier one of the same conversation. The input has the order of time. */
export function repeatedMessages(messages: readonly UserMessage[]): InsightFact[] {
  const facts: InsightFact[] = [];
  let earlier: string[][] = [];
  let conversationId: string | null = null;
  for (const message of messages) {
    if (message.conversation_id !== conversationId) earlier = [];
    conversationId = message.conversation_id;
    const stems = stemsOf(message.text);
    if (stems.length < leastWords) continue;
    if (earlier.some((before) => sharedWords(before, stems) >= leastShared)) facts.push(factOf(message));
    earlier = [...earlier, stems].slice(-maxCompared);
  }
  return facts;
}

const factOf = ({ conversation_id, turn_id, text, at }: UserMessage): InsightFact => ({
  kind: 'repeated_question',
  subject: '',
  text,
  conversationId: conversation_id,
  turnId: turn_id,
  taskId: null,
  at,
  excerpt: text,
});
