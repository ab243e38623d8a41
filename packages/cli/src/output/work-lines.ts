import type { ApplyAnswer, ApplyProgress, Change, ServerAway } from '@vestra/sdk/apply';
import type { WorkEvent } from '../commands/work-event.ts';
import type { Terminal } from '../terminal.ts';
import { showTestResult, summaryOf, type TestRun } from './show-test-run.ts';
import { plain } from './show-value.ts';

/** Progress as plain lines for a log, a pipe or a build. */
export function workLine(terminal: Pick<Terminal, 'paint'>, event: WorkEvent): string | null {
  switch (event.type) {
    case 'read':
      return readLine(event);
    case 'planned':
      return event.changes.length === 0 ? 'Nothing to upload' : null;
    case 'uploaded':
      return changeLine(event.change, event.type);
    case 'indexing':
      return indexingLine(event);
    case 'applied':
      return appliedLine(event.answer);
    case 'testing':
      return testingLine(event.run);
    case 'noted':
      return plain(event.note);
    case 'tested':
      return showTestResult(terminal, event.result);
    case 'tests_ended':
      return `Tests: ${summaryOf(event.run)}`;
    default:
      return null;
  }
}

/** An unchanged file returns its previous run. */
function testingLine({ status, counts: { total } }: TestRun): string {
  const tests = total === 1 ? 'test' : 'tests';
  if (status === 'queued' || status === 'running') return `Running ${total} ${tests}`;
  return `The ${total} ${tests} ${total === 1 ? 'was' : 'were'} played before, on the same`;
}

export function readLine({ file, name, skipped }: Extract<ApplyProgress, { type: 'read' }>): string {
  const left = skipped.map(({ path, reason }) => `\n  skipped: ${plain(path)} (${plain(reason)})`).join('');
  return `Read ${plain(file)}: ${plain(name)}${left}`;
}

const verbs = {
  skill: { created: 'Uploaded', replaced: 'Replaced' },
  notebook: { created: 'Created' },
  file: { created: 'Uploaded' },
  document: { created: 'Uploaded', replaced: 'Replaced', deleted: 'Removed' },
} as const;

export function changeLine(change: Change, state: 'uploading' | 'uploaded'): string {
  const what = `${change.kind} ${plain(change.name)}`;
  if (state === 'uploading') return what;
  const verb = (verbs[change.kind] as Record<string, string>)[change.action] ?? 'Uploaded';
  return `${verb} ${what}`;
}

/** Uploaded documents can be found by keywords at once. */
export const indexingLine = ({ indexed, total }: Extract<ApplyProgress, { type: 'indexing' }>): string =>
  indexed === total
    ? `Indexed ${total} ${total === 1 ? 'document' : 'documents'}`
    : `Indexing: ${indexed} of ${total} documents. Until it is done, the others are found by words only`;

/** The version is saved anyway, but the user should know which tools are missing. */
export const awayLine = ({ paint }: Pick<Terminal, 'paint'>, { slug, code, message }: ServerAway): string =>
  `${paint('yellow', '!')} The tool server ${plain(slug)} cannot be called now: ${plain(message)} (${plain(code)})`;

export function appliedLine({ version, changed, created }: ApplyAnswer): string {
  if (changed.length === 0 && !created) return `Nothing changed: version ${version.version} stays`;
  const what = created ? 'a new deployment' : `changed: ${changed.map(plain).join(', ')}`;
  return `Saved version ${version.version} (${what})`;
}
