import type { Change, FolderPlan } from '@vestra/sdk/apply';
import type { Terminal } from '../terminal.ts';
import { type DiffLine, lineDiff } from './line-diff.ts';
import { plain } from './show-value.ts';

type Painting = Pick<Terminal, 'paint'>;

/** Longer values, and those of several lines, are shown as a diff by line. */
const longestInLine = 60;

/** The plan for people: what would change, then one sentence about the version. Colours only on a terminal. */
export function showPlan(terminal: Painting, name: string, plan: FolderPlan): string {
  const lines = [
    ...plan.changed.flatMap((change) => changedLines(terminal, change)),
    ...plan.uploads.map((change) => uploadLine(terminal, change)),
    ...plan.skipped.map(({ path, reason }) => `! ${plain(path)} is skipped: it ${plain(reason)}`),
    ...plan.warnings.map(
      ({ file, line, column, param, message }) =>
        `! ${plain(file)}${line === null ? '' : `:${line}:${column}`} ${param ? `${plain(param)}: ` : ''}${plain(message)}`,
    ),
    `${plain(name)}: ${outcomeOf(plan)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether applying the folder would change anything. */
export const isChange = ({ creates_version, promotes, changed, uploads }: FolderPlan): boolean =>
  creates_version || promotes || changed.length > 0 || uploads.length > 0;

function outcomeOf(plan: FolderPlan): string {
  const { creates_version, promotes, tests_to_run: tests } = plan;
  const after =
    tests.length === 0
      ? ''
      : ` after ${tests.length === 1 ? 'this test passes' : 'these tests pass'}: ${tests.map(plain).join(', ')}`;
  if (creates_version && promotes) return `a version would be saved, and promoted${after || ' at once'}.`;
  if (creates_version) return 'a version would be saved, and not promoted.';
  if (promotes) return `the newest version would be promoted${after || ' at once'}.`;
  return isChange(plan) ? 'only local files would be uploaded.' : 'nothing would change.';
}

function changedLines({ paint }: Painting, { path, before, after }: FolderPlan['changed'][number]): string[] {
  const sign = before === null ? '+' : after === null ? '-' : '~';
  const head = `${painted(paint, sign, sign)} ${plain(path)}`;
  if (isShort(before) && isShort(after)) {
    const values = [before, after].filter((value) => value !== null).map(written);
    return [`${head}: ${values.join(' → ')}`];
  }
  const [old, now] = [before, after].map((value) => (value === null ? '' : blockOf(value))) as [string, string];
  const lines: DiffLine[] =
    before === null || after === null
      ? (old || now).split('\n').map((text) => ({ sign: sign as '+' | '-', text }))
      : lineDiff(old, now);
  return [
    `${head}:`,
    ...lines.map((line) => painted(paint, line.sign, `    ${line.sign} ${plain(line.text)}`.trimEnd())),
  ];
}

const written = (value: unknown): string => plain(typeof value === 'string' ? value : JSON.stringify(value));

const blockOf = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\n$/, '') : JSON.stringify(value, null, 2);

function isShort(value: unknown): boolean {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= longestInLine && !text.includes('\n');
}

const signs: Record<Change['action'], '+' | '~' | '-'> = { created: '+', replaced: '~', deleted: '-' };

function uploadLine({ paint }: Painting, change: Change): string {
  const sign = signs[change.action];
  const of = change.kind === 'document' ? ` of ${plain(change.notebook)}` : '';
  return `${painted(paint, sign, sign)} ${change.kind} ${plain(change.name)}${of}`;
}

const colours = { '+': 'green', '-': 'red', '~': 'yellow', '…': 'dim' } as const;

const painted = (paint: Terminal['paint'], sign: string, text: string): string =>
  sign in colours ? paint(colours[sign as keyof typeof colours], text) : text;
