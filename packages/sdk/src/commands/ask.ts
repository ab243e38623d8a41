import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { Interaction, Turn } from '../resources.ts';
import type { StreamEvent } from '../stream.ts';
import type { CallOptions } from '../transport.ts';

export type AskOptions = Pick<CallOptions, 'signal' | 'idempotencyKey'> & {
  /** Hears each event of the turn as it comes. */
  onEvent?: ((event: StreamEvent) => void) | undefined;
  /** Is shown what the agent waits on, and says whether the turn is followed on; absent: the waiting ends there. */
  onWait?: ((interaction: Interaction) => Promise<boolean>) | undefined;
  /** Waits for as long as the turn takes, whatever `wait_s` says. */
  untilEnd?: boolean | undefined;
};

/** The turn as far as it came, with what it waits on in full. */
export type Asked = Omit<Turn, 'interactions'> & { turn_id: string; interactions: Interaction[] };

/**
 * Sends a message and waits for the answer, or for what the agent waits on. Whoever stops waiting stops nothing: the
 * turn goes on, and the ids in the answer lead back to it.
 */
export async function ask(client: Client, input: CommandInput<'ask'>, options: AskOptions = {}): Promise<Asked> {
  const { user, conversation, deployment, wait_s = 60, ...message } = input;
  const { signal, idempotencyKey, onEvent, onWait, untilEnd = false } = options;
  if (conversation !== undefined) await assertFits(client, { user, conversation, deployment }, signal);
  const clock = untilEnd ? [] : [AbortSignal.timeout(wait_s * 1000)];
  const enough = AbortSignal.any([...clock, ...(signal ? [signal] : [])]);
  const call = { signal: enough, idempotencyKey };

  let seen: Seen = { turn: null, acknowledgement: null, taskId: null, isWaiting: false };
  try {
    const events =
      conversation === undefined
        ? await client.conversations.create({ ...message, user_id: user, deployment, stream: true }, call)
        : await client.conversations.send({ ...message, conversation_id: conversation, stream: true }, call);
    for await (const event of events) {
      seen = after(seen, event);
      onEvent?.(event);
      if (!opensWait(event) || (await onWait?.(event.data.interaction))) continue;
      seen.isWaiting = true;
      break;
    }
  } catch (error) {
    if (!enough.aborted || error instanceof VestraError) throw error;
  }
  return show(client, seen, signal);
}

type Seen = { turn: Turn | null; acknowledgement: string | null; taskId: string | null; isWaiting: boolean };

function after(seen: Seen, { type, data, task_id }: StreamEvent): Seen {
  if ('turn' in data) return { ...seen, turn: data.turn, taskId: data.turn.task_id ?? seen.taskId };
  const isOfAgent = type === 'reply.completed' && data.message.role === 'agent';
  if (isOfAgent) return { ...seen, acknowledgement: data.message.text };
  return { ...seen, taskId: task_id ?? seen.taskId };
}

/** Something that must be answered before the conversation goes on. A limit that ended work is told as settled. */
export const opensWait = (event: StreamEvent): event is StreamEvent & { type: 'interaction.created' } =>
  event.type === 'interaction.created' && event.data.interaction.status === 'pending';

async function show(client: Client, seen: Seen, signal: AbortSignal | undefined): Promise<Asked> {
  const { turn, acknowledgement, taskId, isWaiting } = seen;
  if (!turn) {
    signal?.throwIfAborted();
    throw new VestraError('The message was sent, but its turn had not begun in time.', {
      status: 504,
      type: 'upstream',
      code: 'timeout',
    });
  }
  const isOver = ['settled', 'failed', 'stopped'].includes(turn.status);
  return {
    ...turn,
    turn_id: turn.id,
    task_id: taskId,
    status: isOver ? turn.status : isWaiting ? 'waiting' : taskId === null ? 'replying' : 'working',
    acknowledgement: taskId === null ? null : acknowledgement,
    interactions: isWaiting ? await openIn(client, turn.conversation_id, signal) : [],
  };
}

/** Oldest first. */
async function openIn(client: Client, conversation_id: string, signal: AbortSignal | undefined) {
  const { data } = await client.interactions.list({ conversation_id, limit: 100 }, { signal });
  return data.reverse();
}

async function assertFits(
  client: Client,
  { user, conversation, deployment }: { conversation: string } & Pick<CommandInput<'ask'>, 'user' | 'deployment'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (deployment !== undefined) {
    throw new VestraError('A conversation keeps the deployment it began with.', {
      status: 400,
      type: 'invalid_request',
      code: 'invalid_request',
      param: 'deployment',
    });
  }
  if (user === undefined) return;
  const { user_id } = await client.conversations.get({ conversation_id: conversation }, { signal });
  if (user_id === user) return;
  throw new VestraError('The conversation belongs to another user.', {
    status: 400,
    type: 'invalid_request',
    code: 'conversation_user_mismatch',
    param: 'user',
  });
}
