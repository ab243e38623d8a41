import type { UserMessage } from '../../engine/activity/index.ts';
import { createBreather } from '../../platform/async/breather.ts';
import { type ComparedText, comparedText, sharedWords } from './cause-words.ts';
import type { FoundFact } from './insight-fact.ts';

/** Two messages with this share of words in common say the same. */
const leastShared = 0.6;
/** "Yes" and "thank you" are no questions that somebody repeats. */
const leastWords = 2;
/** A message is compared with so many messages before it. */
const maxCompared = 20;

/** Messages that say nearly the same as an earlier one of the same conversation. The input has the order of time. */
export async function repeatedMessages(messages: readonly UserMessage[]): Promise<FoundFact[]> {
  const facts: FoundFact[] = [];
  let earlier: ComparedText[] = [];
  let conversationId: string | null = null;
  const breathe = createBreather();
  for (const message of messages) {
    await breathe();
    if (message.conversation_id !== conversationId) earlier = [];
    conversationId = message.conversation_id;
    const said = comparedText(message.text);
    if (said.stems.size < leastWords) continue;
    if (earlier.some((before) => sharedWords(before, said) >= leastShared)) facts.push(factOf(message, said));
    earlier = [...earlier, said].slice(-maxCompared);
  }
  return facts;
}

const factOf = ({ conversation_id, turn_id, text, at }: UserMessage, said: ComparedText): FoundFact => ({
  kind: 'repeated_question',
  subject: '',
  said,
  conversationId: conversation_id,
  turnId: turn_id,
  taskId: null,
  at,
  excerpt: text,
});
