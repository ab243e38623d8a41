import type { ChatState, CompanyCall, Outgoing, ShownMessage, Turn, Waiting, Work } from './chat-state.ts';

/** The items of the chat, oldest first. */
export type Item =
  | { kind: 'message'; key: string; said: ShownMessage }
  | { kind: 'outgoing'; key: string; outgoing: Outgoing; isQueued: boolean }
  | { kind: 'work'; key: string; work: Work; settled: readonly Waiting[]; waitsForCompany: boolean }
  | { kind: 'wait'; key: string; wait: Waiting }
  | { kind: 'call'; key: string; call: CompanyCall }
  /** `again` is the unanswered message, if it is the last one. */
  | { kind: 'end'; key: string; turn: Turn; again: Pick<Outgoing, 'text' | 'attachments'> | null };

/** Sorts by id. A reply's id is created with its message, so it sorts before later messages. */
export function timelineOf(state: ChatState): Item[] {
  const placed = [...messages(state), ...works(state), ...waits(state), ...calls(state), ...ends(state)];
  const floor = state.older === null || state.oldest === null ? '' : placeOf(state.oldest);
  const kept = placed.filter(({ place }) => place >= floor);
  return [...kept, ...outgoing(state)].sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ item }) => item);
}

/** The status is `waiting` while an earlier reply waits, although a later reply may be made meanwhile. */
export function isReplying({ status, turns, calls, waits }: ChatState): boolean {
  if (status !== 'waiting') return status === 'replying';
  const newest = turns[Object.keys(turns).sort().at(-1) ?? ''];
  if (!newest || newest.settled_at !== null || newest.task_id !== null) return false;
  const pending = Object.values(waits).filter(({ interaction }) => interaction.status === 'pending');
  const ids = [...Object.keys(calls), ...pending.map(({ interaction }) => interaction.id)];
  return ids.every((id) => placeOf(id) < placeOf(newest.id));
}

type Placed = { place: string; item: Item };

const placeOf = (id: string) => id.slice(id.indexOf('_') + 1);

/** Sorts after every character of an id. */
const last = '~';

const messages = (state: ChatState): Placed[] =>
  Object.values(state.messages)
    .filter(({ text, attachments, isWhole }) => !isWhole || text.trim() !== '' || attachments.length > 0)
    .map((said) => ({ place: placeOf(said.id), item: { kind: 'message', key: said.id, said } }));

const outgoing = (state: ChatState): Placed[] =>
  state.outgoing.map((each, at) => ({
    place: each.turnId === null ? `${last}${String(at).padStart(6, '0')}` : placeOf(each.turnId),
    item: {
      kind: 'outgoing',
      key: each.key,
      outgoing: each,
      isQueued: each.turnId !== null && state.turns[each.turnId] === undefined && state.status !== 'idle',
    },
  }));

const works = (state: ChatState): Placed[] =>
  Object.values(state.works).map((work) => {
    const forTask = Object.values(state.waits).filter(({ interaction }) => interaction.task_id === work.id);
    const settled = forTask.filter(({ interaction }) => interaction.status !== 'pending');
    const pending = forTask.filter(({ interaction }) => interaction.status === 'pending');
    const isWaiting = work.status === 'working' && pending.length > 0;
    const waitsForCompany = isWaiting && pending.every(({ interaction }) => interaction.approver === 'org');
    const shown: Work = isWaiting ? { ...work, status: 'waiting' } : work;
    return { place: placeOf(work.id), item: { kind: 'work', key: work.id, work: shown, settled, waitsForCompany } };
  });

/** Settled interactions of a task are shown in its card, those of a reply before the reply. */
function waits(state: ChatState): Placed[] {
  return Object.values(state.waits).flatMap((wait) => {
    const { id, status, task_id } = wait.interaction;
    const item: Item = { kind: 'wait', key: id, wait };
    if (status === 'pending') return [{ place: placeOf(id), item }];
    if (task_id !== null) return [];
    const asked = Object.values(state.messages).find((each) => each.role === 'user' && each.turn_id === wait.turnId);
    const before = asked ? placeOf(asked.id) : placeOf(wait.turnId ?? id);
    return [{ place: `${before}${last}${placeOf(id)}`, item }];
  });
}

/** A pending function call is shown where the agent made it, because later replies may follow. */
const calls = (state: ChatState): Placed[] =>
  Object.values(state.calls)
    .filter(({ taskId, hasInteraction }) => taskId === null && hasInteraction)
    .map((call) => ({ place: placeOf(call.id), item: { kind: 'call', key: call.id, call } }));

/** Tasks show their result in their card. */
function ends(state: ChatState): Placed[] {
  return Object.values(state.turns)
    .filter(({ status, task_id }) => task_id === null && (status === 'failed' || status === 'stopped'))
    .map((turn) => {
      const ofTurn = Object.values(state.messages).filter(({ turn_id }) => turn_id === turn.id);
      const said = ofTurn.map(({ id }) => placeOf(id));
      const newest = said.sort().at(-1) ?? placeOf(turn.id);
      const again = turn.status === 'failed' && !isReplying(state) ? unanswered(state, turn) : null;
      return { place: `${newest}${last}${last}`, item: { kind: 'end', key: turn.id, turn, again } };
    });
}

/** The message that the last item answers, if it is a reply and nothing runs. It can be sent again. */
export function askedLast(state: ChatState, items: readonly Item[]): Pick<Outgoing, 'text' | 'attachments'> | null {
  const newest = items.at(-1);
  if (state.status !== 'idle' || newest?.kind !== 'message' || newest.said.role !== 'agent') return null;
  return messageOfTurn(state, newest.said.turn_id);
}

function messageOfTurn({ messages, outgoing: sent }: ChatState, turn: string) {
  const read = Object.values(messages).find(({ role, turn_id }) => role === 'user' && turn_id === turn);
  return read ?? sent.find(({ turnId }) => turnId === turn) ?? null;
}

function unanswered(state: ChatState, { id }: Turn): Pick<Outgoing, 'text' | 'attachments'> | null {
  const { turns, outgoing } = state;
  // A message of an earlier turn may still be in `outgoing`. One without a turn was sent later.
  const isLast = [...Object.keys(turns), ...outgoing.map(({ turnId }) => turnId)].every(
    (each) => each !== null && each <= id,
  );
  if (!isLast) return null;
  return messageOfTurn(state, id);
}
