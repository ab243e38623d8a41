import type { Client } from '../client.ts';
import type { Interaction } from '../resources.ts';
import type { StreamEvent } from '../stream.ts';

/** A call of a function that the deployment declares. One that a message declared is for its sender to answer. */
export const isForCompanyCode = ({ type, details }: Interaction): boolean =>
  type === 'tool_call' && details.declared_by !== 'message';

/** Names the functions whose calls no process has taken; null if there are none. */
export function unansweredHint(interactions: readonly Interaction[]): string | null {
  const names = interactions.flatMap((each) =>
    each.type === 'tool_call' && each.status === 'pending' && isForCompanyCode(each) && each.taken_until === undefined
      ? [each.details.tool_name]
      : [],
  );
  if (names.length === 0) return null;
  return `Nobody is answering ${[...new Set(names)].join(', ')}: run \`vestra functions serve <file>\`.`;
}

/** How long a call may remain unclaimed before it is reported. */
const patienceMs = 5000;

/**
 * Reports calls of the company's functions that no process answers. The server says whether a process has claimed a
 * call: a slow function raises no alarm, and a dead process does. If `report` returns false, it is called again later.
 */
export function watchCalls(
  client: Client,
  signal: AbortSignal,
  report: (hint: string) => unknown,
): { note: (event: StreamEvent) => void; end: () => void } {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const forget = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  const lookLater = (id: string) =>
    timers.set(
      id,
      setTimeout(() => void look(id).catch(() => {}), patienceMs),
    );

  async function look(interaction_id: string): Promise<void> {
    const call = await client.interactions.get({ interaction_id }, { signal });
    if (call.status !== 'pending' || !timers.has(interaction_id)) return;
    const hint = unansweredHint([call]);
    if (hint === null || report(hint) === false) lookLater(interaction_id);
  }

  return {
    note({ type, data }) {
      if (type === 'interaction.created' && isForCompanyCode(data.interaction)) lookLater(data.interaction.id);
      if (type === 'interaction.resolved') forget(data.interaction.id);
    },
    end() {
      for (const id of timers.keys()) forget(id);
    },
  };
}
