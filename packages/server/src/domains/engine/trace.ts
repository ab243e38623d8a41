import type { CallRow } from './tables.ts';

const longestSummary = 200;

type TracedCall = Pick<
  CallRow,
  'id' | 'name' | 'arguments' | 'output' | 'is_error' | 'started_at' | 'finished_at' | 'created_at'
>;

/** One step of work as people read it: what was called and what came of it, in a line each. */
export const presentTraceStep = (call: TracedCall) => {
  const startedAt = call.started_at ?? call.created_at;
  return {
    tool_use_id: call.id,
    name: call.name,
    input_summary: inputSummary(call.arguments),
    output_summary: call.output === null ? null : oneLine(call.output),
    is_error: call.is_error === true,
    started_at: startedAt.toISOString(),
    finished_at: call.finished_at?.toISOString() ?? null,
    duration_ms: call.finished_at === null ? null : Math.max(0, call.finished_at.getTime() - startedAt.getTime()),
  };
};

/** Which arguments there were and of what size, never what was in them: a trace is read by more people than the input. */
function inputSummary(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) return null;
  const parts = Object.entries(given).map(([name, value]) => `${name}: ${shapeOf(value)}`);
  return parts.length === 0 ? 'no arguments' : oneLine(parts.join(', '));
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `text of ${[...value].length} characters`;
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (value === null) return 'nothing';
  return typeof value === 'object' ? `object of ${Object.keys(value).length}` : `a ${typeof value}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= longestSummary ? line : `${line.slice(0, longestSummary - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
