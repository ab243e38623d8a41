import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { Interaction, Turn } from '../resources.ts';
import type { StreamEvent } from '../stream.ts';
import type { CallOptions } from '../transport.ts';
import { isForCompanyCode, unansweredHint, watchCalls } from './unanswered-calls.ts';

export type AskOptions = Pick<CallOptions, 'signal' | 'idempotencyKey'> & {
  /** Called with each event of the turn. */
  onEvent?: ((event: StreamEvent) => unknown) | undefined;
  /**
   * Called with each pending interaction that a person answers. Return true to keep following the turn; absent: `ask`
   * returns. A call of a function that the deployment declares is not one of them.
   */
  onWait?: ((interaction: Interaction) => Promise<boolean>) | undefined;
  /**
   * Called if no process answers a call of the company's function for five seconds, with the next step. Return false to
   * be called again later. Default: a warning on the console.
   */
  onHint?: ((hint: string) => unknown) | undefined;
  /** Waits until the turn ends, whatever `wait_s` says. */
  untilEnd?: boolean | undefined;
};

/** The turn as far as it came, with its pending interactions in full. */
export type Asked = Omit<Turn, 'interactions'> & {
  turn_id: string;
  interactions: Interaction[];
  /** The next step if nobody answers a call of the company's function; null otherwise. */
  hint: string | null;
};

/**
 * Sends a message and waits for the answer, or until a person has to act. The company's code answers calls of the
 * functions that the deployment declares, so `ask` waits for those. Returning stops nothing: the turn continues, and
 * the ids in the result identify it.
 */
export async function ask(client: Client, input: CommandInput<'ask'>, options: AskOptions = {}): Promise<Asked> {
  const { user, conversation, deployment, wait_s = 60, ...message } = input;
  const { signal, idempotencyKey, onEvent, onWait, onHint = warn, untilEnd = false } = options;
  if (conversation !== undefined) await assertFits(client, { user, conversation, deployment }, signal);
  const clock = untilEnd ? [] : [AbortSignal.timeout(wait_s * 1000)];
  const enough = AbortSignal.any([...clock, ...(signal ? [signal] : [])]);
  const call = { signal: enough, idempotencyKey };

  let seen: Seen = { turn: null, acknowledgement: null, taskId: null };
  const asked = new Set<string>();
  const calls = watchCalls(client, enough, onHint);
  try {
    const events =
      conversation === undefined
        ? await client.conversations.create({ ...message, user_id: user, deployment, stream: true }, call)
        : await client.conversations.send({ ...message, conversation_id: conversation, stream: true }, call);
    for await (const event of events) {
      seen = after(seen, event);
      if (event.type === 'interaction.created') asked.add(event.data.interaction.id);
      calls.note(event);
      await onEvent?.(event);
      if (!opensWait(event) || (await onWait?.(event.data.interaction))) continue;
      const interactions = await openIn(client, event.conversation_id, asked, signal);
      // Unless somebody has answered it meanwhile: the turn then continues.
      if (interactions.some(({ id }) => id === event.data.interaction.id)) return show(seen, { signal, interactions });
    }
  } catch (error) {
    if (!enough.aborted || error instanceof VestraError) throw error;
  } finally {
    calls.end();
  }
  const isLeft = asked.size > 0 && !isOver(seen.turn) && !signal?.aborted;
  const interactions = isLeft ? await openIn(client, seen.turn?.conversation_id ?? null, asked, signal) : [];
  return show(seen, { signal, interactions, hint: unansweredHint(interactions) });
}

// biome-ignore lint/suspicious/noConsole: the developer who runs the program should read it.
const warn = (hint: string) => console.warn(hint);

type Seen = { turn: Turn | null; acknowledgement: string | null; taskId: string | null };

function after(seen: Seen, { type, data, task_id }: StreamEvent): Seen {
  if ('turn' in data) return { ...seen, turn: data.turn, taskId: data.turn.task_id ?? seen.taskId };
  const isOfAgent = type === 'reply.completed' && data.message.role === 'agent';
  if (isOfAgent) return { ...seen, acknowledgement: data.message.text };
  return { ...seen, taskId: task_id ?? seen.taskId };
}

/** Somebody has to act before the turn continues, other than the company's code. A limit that ended a task is not pending. */
export const opensWait = (event: StreamEvent): event is StreamEvent & { type: 'interaction.created' } =>
  event.type === 'interaction.created' &&
  event.data.interaction.status === 'pending' &&
  !isForCompanyCode(event.data.interaction);

const isOver = (turn: Turn | null) => turn !== null && ['settled', 'failed', 'stopped'].includes(turn.status);

type Left = { signal: AbortSignal | undefined; interactions: Interaction[]; hint?: string | null };

function show({ turn, acknowledgement, taskId }: Seen, { signal, interactions, hint = null }: Left): Asked {
  if (!turn) {
    signal?.throwIfAborted();
    throw new VestraError('The message was sent, but its turn had not begun in time.', {
      status: 504,
      type: 'upstream',
      code: 'timeout',
    });
  }
  const unsettled = interactions.length > 0 ? 'waiting' : taskId === null ? 'replying' : 'working';
  return {
    ...turn,
    turn_id: turn.id,
    task_id: taskId,
    status: isOver(turn) ? turn.status : unsettled,
    acknowledgement: taskId === null ? null : acknowledgement,
    interactions,
    hint,
  };
}

/** The conversation's pending interactions, oldest first; none if all that the turn asked for are settled. */
async function openIn(
  client: Client,
  conversation_id: string | null,
  asked: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Interaction[]> {
  if (conversation_id === null) return [];
  const { data } = await client.interactions.list({ conversation_id, limit: 100 }, { signal });
  return data.some(({ id }) => asked.has(id)) ? data.reverse() : [];
}

async function assertFits(
  client: Client,
  { user, conversation, deployment }: { conversation: string } & Pick<CommandInput<'ask'>, 'user' | 'deployment'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (deployment !== undefined) {
    throw new VestraError('A conversation cannot change its deployment.', {
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
