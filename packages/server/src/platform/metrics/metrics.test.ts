import { expect, it } from 'vitest';
import { createTurnWatch } from './metrics.ts';
import { createRegistry } from './registry.ts';

it('measures a turn by the clock that set its time, even if the clock of the machine is wrong [OPS-201]', async () => {
  const now = () => Date.now() + 3_600_000;
  const registry = createRegistry();
  const turns = createTurnWatch(registry, { upToMinutes: [60, 1800], now });
  const turn = { status: 'settled', created_at: new Date(now()).toISOString(), error: null };
  const told = (type: string) => ({ type, turn_id: 'turn_1', data: { turn } });
  turns.written([told('turn.started'), told('reply.delta'), told('turn.settled')]);
  const seconds = async (name: string) =>
    Number(new RegExp(`^${name}_sum\\S* (\\S+)$`, 'm').exec(await registry.write('prometheus'))?.[1]);
  for (const name of ['vestra_turn_duration_seconds', 'vestra_turn_first_text_seconds']) {
    expect(await seconds(name)).toBeGreaterThanOrEqual(0);
    expect(await seconds(name)).toBeLessThan(60);
  }
});
