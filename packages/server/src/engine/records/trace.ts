import { withoutCredentials } from '@vestra/agent/credential';
import type { CallRow } from './tables.ts';

const longestSummary = 200;

type TracedCall = Pick<
  CallRow,
  'id' | 'name' | 'arguments' | 'output' | 'is_error' | 'started_at' | 'finished_at' | 'created_at'
> &
  Partial<Pick<CallRow, 'media'>>;

/**
 * One step of work as people read it: what was called and what came of it, in a line each. Pictures of it have a link
 * where `linkTo` makes one; a link is good for minutes, and an event is kept for longer.
 */
export const presentTraceStep = (call: TracedCall, linkTo?: (fileId: string) => string) => {
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
    ...(call.media && {
      media: call.media.map(({ file_id, ...facts }) => ({ ...facts, ...(linkTo && { url: linkTo(file_id) }) })),
    }),
  };
};

/**
 * What the call was about, never the input itself: a trace is read by more people than the input. Of an address the site
 * and the path, of other text its beginning; what people write or type, and what looks like a credential, by its size.
 */
function inputSummary(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) return null;
  const parts = Object.entries(given).map(([name, value]) => `${name}: ${shownValue(name, value)}`);
  return parts.length === 0 ? 'no arguments' : oneLine(parts.join(', '));
}

const longestBeginning = 60;
/** What is written somewhere rather than said what to do: it may be a password, a letter, a whole file. */
const written =
  /^(text|content|contents|body|value|values|data|payload|message|answer|output|input|card\w*|iban|ssn)$/i;
/** Card numbers and other long numbers, and what is too much of a jumble to be words. */
const unreadable = /\d[\d -]{11,}\d|[^\s/]{32,}/;

function shownValue(name: string, value: unknown): string {
  if (typeof value !== 'string') return shapeOf(value);
  const isShown = !written.test(name) && withoutCredentials(name, value) === value;
  if (!isShown) return shapeOf(value);
  if (/^https?:/i.test(value) && URL.canParse(value)) {
    const { host, pathname } = new URL(value);
    return unreadable.test(pathname) ? host : `${host}${pathname}`;
  }
  if (unreadable.test(value)) return shapeOf(value);
  const characters = [...value];
  return characters.length <= longestBeginning ? value : `${characters.slice(0, longestBeginning).join('')}…`;
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
