import type { RouteAnswer } from '../../data/rows.ts';

export type Trace = Pick<RouteAnswer<'tasks.trace'>, 'sent' | 'steps' | 'turns' | 'totals' | 'missing_tools'>;
type Step = Trace['steps'][number];
type ModelCall = Trace['turns'][number];

/** One bar of the waterfall: a model call or a tool call. */
export type Span = {
  id: string;
  kind: 'model' | 'tool';
  name: string;
  startMs: number;
  endMs: number;
  isOpen: boolean;
  isError: boolean;
  step?: Step;
  call?: ModelCall;
};

/** Sorted by start. Open spans end now. */
export function spansOf({ steps, turns }: Pick<Trace, 'steps' | 'turns'>, now: number): Span[] {
  const tools = steps.map((step): Span => {
    const startMs = Date.parse(step.started_at);
    return {
      id: `tool ${step.tool_use_id}`,
      kind: 'tool',
      name: step.name ?? 'tool',
      startMs,
      endMs: endOf(startMs, step.duration_ms, step.finished_at === null ? now : Date.parse(step.finished_at)),
      isOpen: step.finished_at === null,
      isError: step.is_error,
      step,
    };
  });
  const models = turns.map((call, index): Span => {
    const startMs = Date.parse(call.started_at);
    const isOpen = call.duration_ms === null && call.status === null;
    return {
      id: `model ${index}`,
      kind: 'model',
      name: call.model ?? 'model',
      startMs,
      endMs: endOf(startMs, call.duration_ms, isOpen ? now : startMs),
      isOpen,
      isError: call.status === 'error' || call.status === 'failed',
      call,
    };
  });
  return [...models, ...tools].sort((one, other) => one.startMs - other.startMs || one.id.localeCompare(other.id));
}

const endOf = (startMs: number, durationMs: number | null, otherwise: number) =>
  durationMs === null ? Math.max(startMs, otherwise) : startMs + durationMs;

/** The time range of all spans, at least one millisecond. */
export function windowOf(spans: readonly Span[]): { fromMs: number; toMs: number } {
  let fromMs = Number.POSITIVE_INFINITY;
  let toMs = 0;
  for (const { startMs, endMs } of spans) {
    if (startMs < fromMs) fromMs = startMs;
    if (endMs > toMs) toMs = endMs;
  }
  return spans.length === 0 ? { fromMs: 0, toMs: 1 } : { fromMs, toMs: Math.max(toMs, fromMs + 1) };
}

type TimeWindow = { fromMs: number; toMs: number };

/** The next window: zoomed around its middle, or moved by half its length. Null shows everything. */
export function zoomed(
  whole: TimeWindow,
  { fromMs, toMs }: TimeWindow,
  way: 'in' | 'out' | 'back' | 'on',
): TimeWindow | null {
  const length = toMs - fromMs;
  const wanted = way === 'in' ? Math.max(1, length / 2) : way === 'out' ? length * 2 : length;
  if (wanted >= whole.toMs - whole.fromMs) return null;
  const middle = (fromMs + toMs) / 2 + (way === 'back' ? -length / 2 : way === 'on' ? length / 2 : 0);
  const start = Math.min(Math.max(whole.fromMs, middle - wanted / 2), whole.toMs - wanted);
  return { fromMs: start, toMs: start + wanted };
}
