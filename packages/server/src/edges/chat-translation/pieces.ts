import type { Interaction, Task, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';

/** What an answer is made of, in the order in which it came. */
export type Piece =
  | { kind: 'text'; text: string }
  /** A function of the client's own is to be called. */
  | { kind: 'call'; id: string; name: string; arguments: string }
  | { kind: 'approval'; interaction: Extract<Interaction, { type: 'approval' }> }
  /** Something else that a person has to do before it goes on. */
  | { kind: 'wait'; interaction: Interaction }
  /** How far work has come that goes on. */
  | { kind: 'progress'; taskId: string; title: string | null; progress: Task['progress'] };

/** How far it came. `open`: it goes on, and nobody waits for anything. */
export type Ending = { turn: Turn | null; state: 'settled' | 'stopped' | 'failed' | 'waiting' | 'open' };

type Source = {
  events: AsyncIterable<StreamEvent>;
  /** What stands in the log after an event, of the same turn. */
  rest: (after: StreamEvent) => Promise<readonly StreamEvent[]>;
  /** From the name of a function here to the client's. */
  names: Readonly<Record<string, string>>;
  /** The answer is data, and its words come at its end as JSON. */
  isStructured: boolean;
};

/** The events of a turn as pieces, until it ends or waits for the client or for a person. */
export async function* piecesOf({
  events,
  rest,
  names,
  isStructured,
}: Source): AsyncGenerator<Piece, Ending, undefined> {
  let shown = '';
  /** A turn that goes on after it waited: what it said before belongs to the answer before. */
  let isContinued: boolean | undefined;
  let turn: Turn | null = null;
  const askedIn = readAsked(names);
  const text = (added: string): Piece => {
    shown += added;
    return { kind: 'text', text: added };
  };
  for await (const event of events) {
    isContinued ??= event.type !== 'turn.started';
    if ('turn' in event.data) turn = event.data.turn;
    if (event.type === 'reply.delta' && !isStructured) {
      // What goes on after a wait begins with the gap to what was said before it.
      const added = shown === '' ? event.data.text.trimStart() : event.data.text;
      if (added !== '') yield text(added);
    }
    const progress = progressIn(event);
    if (progress) yield progress;
    const asked = askedIn(event);
    if (asked) {
      yield asked;
      for (const further of await rest(event)) {
        const alsoAsked = askedIn(further);
        if (alsoAsked) yield alsoAsked;
      }
      return { turn, state: 'waiting' };
    }
    if (event.type !== 'turn.settled') continue;
    const { reply, status, task_id } = event.data.turn;
    const said = isStructured && reply ? JSON.stringify(reply.data) : (reply?.text ?? '');
    // The answer of work comes whole, after what was said when it began; so do data, and words that were not streamed.
    const isUnsaid = task_id !== null || isStructured || (shown === '' && !isContinued);
    if (said !== '' && isUnsaid) yield text(shown === '' ? said : `\n\n${said}`);
    return { turn: event.data.turn, state: status === 'failed' || status === 'stopped' ? status : 'settled' };
  }
  return { turn, state: 'open' };
}

function progressIn({ type, task_id, data }: StreamEvent): Piece | null {
  if ((type !== 'task.started' && type !== 'task.progress') || task_id === null) return null;
  const { title, progress } = 'task' in data ? data.task : data;
  return { kind: 'progress', taskId: task_id, title, progress };
}

/** A call is the client's to answer where its message declared the function: one of the same name may be the company's. */
function readAsked(names: Source['names']): (event: StreamEvent) => Piece | null {
  const ofMessage = new Set<string>();
  return (event) => {
    if (event.type === 'tool_call.created') {
      const { call_id: id, name, arguments: given } = event.data.call;
      if (!ofMessage.has(id)) return null;
      return { kind: 'call', id, name: names[name] ?? name, arguments: JSON.stringify(given ?? {}) };
    }
    if (event.type !== 'interaction.created') return null;
    const { interaction } = event.data;
    if (interaction.status !== 'pending') return null;
    if (interaction.type === 'approval') return { kind: 'approval', interaction };
    if (interaction.type !== 'tool_call') return { kind: 'wait', interaction };
    // Its arguments follow with the next event.
    if (interaction.details.declared_by === 'message') ofMessage.add(interaction.id);
    return null;
  };
}

/** What is read of an answer that has come to its end: of work the answer alone, without what was said when it began. */
export function finalWords({ turn, state }: Ending, { is_structured }: { is_structured: boolean }): string | null {
  const isOfWork = state === 'settled' && !is_structured && turn?.task_id != null;
  return isOfWork ? (turn?.reply?.text ?? '') : null;
}

/** What neither form can say otherwise, in words. */
export function wordsFor({ id, type, summary, questions = [] }: Interaction): string {
  if (type === 'question') {
    return questions
      .map(({ question, options }) => [question, ...options.map((option) => `- ${option}`)].join('\n'))
      .join('\n\n');
  }
  if (type === 'connect') return summary;
  return `${summary}\n\n(This waits for a person: interaction ${id}, answered by POST /v1/interactions/${id}/answer.)`;
}
