import type { Exchange } from './exchange.ts';

export type TokensUsed = { input: number; cached: number; output: number };

/** What the models read and wrote for an answer, in the work that it began too; of a turn that went on, since then. */
export async function tokensUsed(
  { client }: Exchange,
  of: { conversationId: string; turnId: string; taskId: string | null; since: string | null },
): Promise<TokensUsed> {
  const { conversationId, turnId, taskId, since } = of;
  const reply = await client.conversations.trace({ conversation_id: conversationId, turn_id: turnId });
  const work = taskId === null ? [] : (await client.tasks.trace({ task_id: taskId })).turns;
  const calls = [...reply.turns, ...work].filter(({ started_at }) => since === null || started_at >= since);
  const sum = (of: (call: (typeof calls)[number]) => number) => calls.reduce((total, call) => total + of(call), 0);
  return {
    input: sum((call) => call.input_tokens + call.cache_read_tokens + call.cache_write_tokens),
    cached: sum(({ cache_read_tokens }) => cache_read_tokens),
    output: sum(({ output_tokens }) => output_tokens),
  };
}
