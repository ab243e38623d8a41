import { describe, expect, it } from 'vitest';
import { spansOf, windowOf, zoomed } from './spans.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const ms = (second: number) => Date.parse(at(second));
const step = (id: string, from: number, to: number | null) => ({
  tool_use_id: id,
  name: id,
  input_summary: null,
  output_summary: null,
  is_error: false,
  started_at: at(from),
  finished_at: to === null ? null : at(to),
  duration_ms: to === null ? null : (to - from) * 1000,
});
const call = (from: number, durationMs: number | null, status: string | null = 'ok') => ({
  turn_id: 'turn_1',
  model: 'm',
  input_tokens: 1,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_share: 0,
  cost_usd: 0,
  duration_ms: durationMs,
  status,
  error: null,
  started_at: at(from),
});

describe('trace spans', () => {
  it('are sorted by start, and open spans end now', () => {
    const spans = spansOf({ steps: [step('b', 2, 3), step('open', 4, null)], turns: [call(1, 1000)] }, ms(9));
    expect(spans.map(({ name, startMs, endMs, isOpen }) => [name, startMs, endMs, isOpen])).toEqual([
      ['m', ms(1), ms(2), false],
      ['b', ms(2), ms(3), false],
      ['open', ms(4), ms(9), true],
    ]);
    expect(windowOf(spans)).toEqual({ fromMs: ms(1), toMs: ms(9) });
  });

  it('have a minimum window, also without spans', () => {
    const spans = spansOf({ steps: [], turns: [call(1, 0)] }, ms(1));
    expect(windowOf(spans).toMs).toBeGreaterThan(windowOf(spans).fromMs);
    expect(windowOf([])).toEqual({ fromMs: 0, toMs: 1 });
  });
});

it('zooms and moves the trace window within its bounds [CON-268]', () => {
  const whole = { fromMs: 0, toMs: 1000 };
  const middle = { fromMs: 400, toMs: 600 };
  expect(zoomed(whole, whole, 'in')).toEqual({ fromMs: 250, toMs: 750 });
  expect(zoomed(whole, middle, 'out')).toEqual({ fromMs: 300, toMs: 700 });
  expect(zoomed(whole, { fromMs: 0, toMs: 600 }, 'out')).toBeNull();
  expect(zoomed(whole, middle, 'back')).toEqual({ fromMs: 300, toMs: 500 });
  expect(zoomed(whole, { fromMs: 50, toMs: 250 }, 'back')).toEqual({ fromMs: 0, toMs: 200 });
  expect(zoomed(whole, { fromMs: 900, toMs: 1000 }, 'on')).toEqual({ fromMs: 900, toMs: 1000 });
  expect(zoomed({ fromMs: 0, toMs: 10 }, { fromMs: 3, toMs: 4 }, 'in')).toEqual({ fromMs: 3, toMs: 4 });
});
