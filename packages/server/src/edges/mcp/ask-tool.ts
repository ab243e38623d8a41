import { fail } from '@vestra/contract/errors';
import { type ConversationEvent, opensWait, type ShownInteraction, type ShownTurn } from '../conversation-event.ts';
import type { ToolCaller } from './tool-caller.ts';

/**
 * Sends a message and waits for the answer, or for what the agent waits on. Whoever stops waiting stops nothing: the
 * turn goes on, and the ids in the answer lead back to it.
 */
export async function askTool(given: Record<string, unknown>, caller: ToolCaller): Promise<unknown> {
  const { user, conversation, deployment, wait_s, ...message } = given as {
    user?: string;
    conversation?: string;
    deployment?: string;
    wait_s: number;
  };
  const { routes, signal, tellProgress } = caller;
  if (conversation !== undefined) await assertFits(caller, { user, conversation, deployment });
  const events = routes.follow<ConversationEvent>({
    method: 'POST',
    ...(conversation === undefined
      ? { path: '/v1/conversations', body: { ...message, user_id: user, deployment, stream: true } }
      : { path: `/v1/conversations/${conversation}/messages`, body: { ...message, stream: true } }),
    headers: routes.once,
    signal: AbortSignal.any([signal, AbortSignal.timeout(wait_s * 1000)]),
  });

  let seen: Seen = { turn: null, acknowledgement: null, taskId: null, isWaiting: false };
  for await (const event of events) {
    seen = after(seen, event);
    const news = newsOf(event);
    if (news !== null) tellProgress(news);
    if (seen.isWaiting) break;
  }
  return show(seen, caller);
}

type Seen = { turn: ShownTurn | null; acknowledgement: string | null; taskId: string | null; isWaiting: boolean };

function after(seen: Seen, event: ConversationEvent): Seen {
  const { data, task_id } = event;
  if (data.turn) return { ...seen, turn: data.turn, taskId: data.turn.task_id ?? seen.taskId };
  if (opensWait(event)) return { ...seen, isWaiting: true, taskId: task_id ?? seen.taskId };
  if (data.message?.role === 'agent') return { ...seen, acknowledgement: data.message.text };
  return { ...seen, taskId: task_id ?? seen.taskId };
}

function newsOf({ type, data }: ConversationEvent): string | null {
  if (type === 'reply.delta') return data.text ?? null;
  if (type === 'task.started') return data.task?.title ?? 'The work has begun.';
  if (type === 'task.progress') return data.progress?.find(({ status }) => status === 'in_progress')?.content ?? null;
  return null;
}

async function show({ turn, acknowledgement, taskId, isWaiting }: Seen, { routes }: ToolCaller): Promise<unknown> {
  // The caller went before the first event; nobody reads this.
  if (!turn) throw fail('timeout', { message: 'The message was sent, but its turn had not begun in time.' });
  const isOver = ['settled', 'failed', 'stopped'].includes(turn.status);
  const open = isWaiting ? await openIn(turn.conversation_id, routes) : [];
  return {
    conversation_id: turn.conversation_id,
    turn_id: turn.id,
    task_id: taskId,
    status: isOver ? turn.status : isWaiting ? 'waiting' : taskId === null ? 'replying' : 'working',
    reply: turn.reply,
    acknowledgement: taskId === null ? null : acknowledgement,
    interactions: open,
    error: turn.error,
  };
}

async function openIn(conversationId: string, routes: ToolCaller['routes']): Promise<ShownInteraction[]> {
  const { data } = await routes.call<{ data: ShownInteraction[] }>({
    method: 'GET',
    path: '/v1/interactions',
    query: { conversation_id: conversationId, limit: 100 },
  });
  return data.reverse();
}

async function assertFits(
  { routes }: ToolCaller,
  {
    user,
    conversation,
    deployment,
  }: { user: string | undefined; conversation: string; deployment: string | undefined },
): Promise<void> {
  if (deployment !== undefined) {
    throw fail('invalid_request', {
      param: 'deployment',
      message: 'A conversation keeps the deployment it began with.',
    });
  }
  if (user === undefined) return;
  const path = `/v1/conversations/${conversation}`;
  const { user_id } = await routes.call<{ user_id: string | null }>({ method: 'GET', path });
  if (user_id !== user) throw fail('conversation_user_mismatch', { param: 'user' });
}
