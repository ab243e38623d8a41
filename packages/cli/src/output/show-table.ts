import type { Terminal } from '../terminal.ts';
import { cut, showValue, widthOf } from './show-value.ts';

type Look = Pick<Terminal, 'columns' | 'paint'>;

const gap = '  ';

/** Formats rows under headings. In a terminal no line wraps: the last column is shortened first. */
export function showTable(look: Look, rows: readonly Record<string, unknown>[]): string {
  const paths = columnsFor(rows);
  const cells = rows.map((row) => paths.map((path) => oneLine(showValue(nameOf(path), valueAt(row, path)))));
  const headings = paths.map(headingOf);
  const widths = headings.map((heading, at) =>
    Math.max(widthOf(heading), ...cells.map((line) => widthOf(line[at] as string))),
  );
  const lines = [headings, ...cells].map((line, at) => {
    const text = line
      .map((cell, column) => pad(cell, widths[column] as number))
      .join(gap)
      .trimEnd();
    const shown = look.columns === null ? text : cut(text, look.columns);
    return at === 0 ? look.paint('dim', shown) : shown;
  });
  return `${lines.join('\n')}\n`;
}

const nameOf = (path: string) => path.split('.').at(-1) as string;

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** The table columns of each resource, by its `object`. A dotted name is a path. */
const columnsOf: Record<string, readonly string[]> = {
  app: ['id', 'name', 'connectable', 'description'],
  audit_entry: ['created_at', 'action', 'actor.name', 'target.id', 'request_id'],
  batch: ['id', 'status', 'item_count', 'counts.succeeded', 'counts.failed', 'spend_usd', 'created_at'],
  'batch.item': ['index', 'user_id', 'status', 'conversation_id', 'error.code', 'result.text'],
  connection: ['id', 'app', 'user_id', 'status', 'account', 'created_at'],
  conversation: ['id', 'user_id', 'status', 'deployment_version', 'cost_usd', 'last_active_at'],
  deployment: ['slug', 'name', 'status', 'draft_version', 'live_version', 'updated_at'],
  deployment_version: ['version', 'is_draft', 'is_live', 'tests.status', 'created_at', 'created_by.name', 'changed'],
  document: ['id', 'title', 'content_type', 'bytes', 'created_at'],
  event: ['created_at', 'type', 'id'],
  file: ['id', 'filename', 'mime_type', 'size_bytes', 'source', 'created_at'],
  insight: ['conversations', 'share', 'count', 'trend.previous_count', 'kind', 'id', 'title'],
  interaction: ['id', 'type', 'status', 'user_id', 'created_at', 'summary'],
  key: ['id', 'name', 'mode', 'scopes', 'last4', 'last_used_at'],
  line_item: ['created_at', 'kind', 'model', 'quantity', 'unit', 'cost_usd'],
  mcp_server: ['id', 'slug', 'name', 'url', 'updated_at'],
  member: ['id', 'email', 'name', 'role', 'status', 'created_at'],
  memory: ['id', 'kind', 'source', 'observed_at', 'text'],
  message: ['created_at', 'role', 'text'],
  model: [
    ...['id', 'provider', 'default', 'available', 'price.input_per_mtok', 'price.output_per_mtok', 'priced'],
    ...['retires_on', 'replacement'],
  ],
  notebook: ['id', 'slug', 'name', 'document_count', 'bytes', 'updated_at'],
  routine: ['id', 'name', 'user_id', 'enabled', 'status', 'schedule.cron', 'next_run_at'],
  scenario: ['id', 'name', 'managed_by', 'goal'],
  secret: ['name', 'user_id', 'mode', 'updated_at'],
  skill: ['id', 'slug', 'source', 'updated_at', 'description'],
  skill_version: ['hash', 'parent_hash', 'created_at'],
  task: ['id', 'status', 'user_id', 'cost_usd', 'updated_at', 'title'],
  test_run: ['id', 'version', 'status', 'counts.passed', 'counts.failed', 'cost_usd', 'created_at'],
  usage_row: ['key', 'label', 'cost_usd', 'task_count', 'input_tokens', 'output_tokens'],
  user: ['id', 'name', 'email', 'status', 'spend_today_usd', 'created_at'],
  webhook_delivery: ['id', 'event_type', 'attempt', 'status', 'status_code', 'duration_ms', 'created_at'],
  webhook_endpoint: ['id', 'active', 'managed_by', 'events', 'url'],
};

/** Headings for paths whose last part is unclear. */
const headings: Record<string, string> = {
  'actor.name': 'actor',
  'created_by.name': 'by',
  'error.code': 'error',
  'price.input_per_mtok': '$ per million in',
  'price.output_per_mtok': '$ per million out',
  'result.text': 'result',
  'schedule.cron': 'schedule',
  'trend.previous_count': 'before',
  'target.id': 'target',
  'tests.status': 'tests',
};

type Row = Record<string, unknown>;

/** The columns of a list. A resource without an entry above shows its simple fields in order. */
function columnsFor(rows: readonly Row[]): readonly string[] {
  const [first = {}] = rows;
  return columnsOf[String(first.object)] ?? Object.keys(first).filter((name) => isPlain(name, first[name]));
}

function valueAt(row: Row, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Row | null | undefined)?.[name], row);
}

/** `counts.passed` becomes PASSED, `created_at` becomes CREATED. */
function headingOf(path: string): string {
  return (headings[path] ?? (path.split('.').at(-1) as string))
    .replace(/_(at|usd|id)$/, '')
    .replaceAll('_', ' ')
    .toUpperCase();
}

const isPlain = (name: string, value: unknown) =>
  name !== 'object' && (typeof value !== 'object' || value === null || Array.isArray(value));
