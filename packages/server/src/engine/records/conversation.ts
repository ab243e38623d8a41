export type ConversationStatus = 'idle' | 'replying' | 'working' | 'waiting';

/** What a conversation shows itself to be at. A wait for a person comes first: it is what somebody must act on. */
export function statusOf(open: { interactions: boolean; reply: boolean; tasks: boolean }): ConversationStatus {
  if (open.interactions) return 'waiting';
  if (open.reply) return 'replying';
  return open.tasks ? 'working' : 'idle';
}
