import type { Client } from '@vestra/sdk/client';
import type { TaskTrace, TurnTrace } from '@vestra/sdk/resources';
import { misuse, refuse } from '../fault.ts';
import type { LocalInvocation } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { showTrace } from '../output/show-trace.ts';

/** Shows the steps of a reply or task as a tree. */
export async function trace({ terminal, isJson, words: [id = ''], flags, connect }: LocalInvocation): Promise<void> {
  if (!/^(turn|task|conv)_/.test(id)) {
    throw misuse('Name what to trace: a turn_ id, a task_ id, or a conv_ id for its last reply.', '<id>');
  }
  const client = await connect();
  const { signal } = terminal;
  if (id.startsWith('task_')) {
    const found = await client.tasks.trace({ task_id: id }, { signal });
    return isJson ? printJson(terminal, found) : terminal.out(showTrace(terminal, `work ${id}`, found));
  }
  const turn = await turnMeant(client, id, flags.conversation as string | undefined, signal);
  const found: TurnTrace = await client.conversations.trace(turn, { signal });
  const work: TaskTrace | null = found.task_id
    ? await client.tasks.trace({ task_id: found.task_id }, { signal })
    : null;
  if (isJson) return printJson(terminal, { ...found, task_trace: work });
  terminal.out(showTrace(terminal, `reply ${found.turn_id}`, found, work));
}

async function turnMeant(client: Client, id: string, named: string | undefined, signal: AbortSignal) {
  if (id.startsWith('conv_')) {
    const { data } = await client.conversations.messages({ conversation_id: id, limit: 1 }, { signal });
    const [last] = data;
    if (!last) throw refuse(`${id} has no messages yet.`);
    return { conversation_id: id, turn_id: last.turn_id };
  }
  const conversation_id = named ?? (await conversationOf(client, id, signal));
  if (!conversation_id) throw refuse(`${id} is not among the newest replies: set --conversation to its conv_ id.`);
  return { conversation_id, turn_id: id };
}

/** A turn id alone is searched among the newest replies, because a trace is usually requested right after one. */
async function conversationOf(client: Client, turnId: string, signal: AbortSignal): Promise<string | null> {
  for (const type of ['reply.completed', 'turn.failed'] as const) {
    const { data } = await client.events.list({ type, limit: 100 }, { signal });
    for (const event of data) {
      if (event.type === 'reply.completed' && event.data.turn_id === turnId) return event.data.conversation_id;
      if (event.type === 'turn.failed' && event.data.id === turnId) return event.data.conversation_id;
    }
  }
  return null;
}
