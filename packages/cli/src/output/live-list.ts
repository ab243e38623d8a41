import type { Change } from '@vestra/sdk/apply';
import { Listr, type ListrTask } from 'listr2';
import type { WorkEvent } from '../commands/work-event.ts';
import type { Terminal } from '../terminal.ts';
import { showTestResult, summaryOf, type TestResult, type TestRun } from './show-test-run.ts';
import { plain } from './show-value.ts';
import { appliedLine, changeLine, indexingLine, readLine } from './work-lines.ts';

type Tell = (event: WorkEvent) => void;

/**
 * Runs work under a live list in a terminal: a line for each stage, and below it one for each upload and test. `stages`
 * names the stages.
 */
export async function withLiveList<Value>(
  terminal: Terminal,
  stages: readonly ('apply' | 'tests')[],
  work: (tell: Tell) => Promise<Value>,
): Promise<Value> {
  const read = Promise.withResolvers<string>();
  const planned = Promise.withResolvers<readonly Change[]>();
  const applied = Promise.withResolvers<string>();
  const testing = Promise.withResolvers<TestRun | null>();
  const ended = Promise.withResolvers<TestRun | null>();
  const changes = new Map<Change, PromiseWithResolvers<string | null>>();
  const tests = new Map<string, PromiseWithResolvers<TestResult>>();
  const waiting = () => [read, planned, applied, testing, ended, ...changes.values(), ...tests.values()];
  for (const each of waiting()) each.promise.catch(() => {});
  let current: Change | null = null;
  let sayNote: (note: string) => void = () => {};
  let sayIndexing: (line: string) => void = () => {};

  const running = work((event) => {
    switch (event.type) {
      case 'read':
        return read.resolve(readLine(event));
      case 'planned':
        for (const change of event.changes) changes.set(change, guarded());
        return planned.resolve(event.changes);
      case 'uploading':
        current = event.change;
        return;
      case 'uploaded':
        if (current) changes.get(current)?.resolve(changeLine(event.change, event.type));
        current = null;
        return;
      case 'applied':
        applied.resolve(appliedLine(event.answer));
        if (!event.answer.test_run) testing.resolve(null);
        return;
      case 'testing':
        for (const { scenario_id } of event.run.results) tests.set(scenario_id, guarded());
        return testing.resolve(event.run);
      case 'noted':
        return sayNote(event.note);
      case 'indexing':
        return sayIndexing(indexingLine(event));
      case 'tested':
        return tests.get(event.result.scenario_id)?.resolve(event.result);
      case 'tests_ended':
        return ended.resolve(event.run);
      default:
    }
  });
  // Steps that never started are shown as not done.
  running.then(
    () => {
      for (const each of [testing, ended]) each.resolve(null);
    },
    (error) => {
      // Only the active line is marked as failed. The reason is printed below the list.
      const begun = current ? changes.get(current) : undefined;
      for (const each of changes.values()) if (each !== begun) each.resolve(null);
      for (const each of waiting()) each.reject(error);
    },
  );

  const upload: ListrTask = {
    title: 'Uploading',
    async task(_, task) {
      const found = await planned.promise;
      if (found.length === 0) {
        task.title = 'Nothing to upload';
        return;
      }
      task.title = `Uploads: ${found.length} ${found.length === 1 ? 'change' : 'changes'}`;
      sayIndexing = (said) => {
        task.title = `Uploads: ${found.length} ${found.length === 1 ? 'change' : 'changes'}. ${said}`;
      };
      return task.newListr(found.map((change) => line(changeLine(change, 'uploading'), changes.get(change)?.promise)));
    },
  };
  const play: ListrTask = {
    title: 'Tests',
    async task(_, task) {
      const run = await testing.promise;
      if (!run) return task.skip('Tests: none ran');
      sayNote = (note) => {
        task.title = `Tests: ${plain(note)}`;
      };
      const lines = run.results.map(({ scenario_id, name }): ListrTask => {
        const verdict = tests.get(scenario_id)?.promise;
        return { title: name, task: async (_context, own) => showVerdict(terminal, own, await verdict) };
      });
      const list = task.newListr(lines, { concurrent: true, exitOnError: false });
      const sayEnd = (end: TestRun | null) => {
        if (end) task.title = `Tests: ${summaryOf(end)}`;
      };
      ended.promise.then(sayEnd, () => {});
      return list;
    },
  };
  const all: Record<(typeof stages)[number], ListrTask[]> = {
    apply: [line('Reading service.yaml', read.promise), upload, line('Applying', applied.promise)],
    tests: [play],
  };
  const list = new Listr(
    stages.flatMap((stage) => all[stage]),
    {
      rendererOptions: { collapseSubtasks: false, collapseErrors: false, showErrorMessage: false },
      registerSignalListeners: false,
    },
  );
  await list.run().catch(() => {});
  return running;
}

/** A line that completes with its promise, with the returned text; null: it never started. */
const line = (title: string, done: Promise<string | null> | undefined): ListrTask => ({
  title,
  async task(_, task) {
    const said = await done;
    if (said === null) task.skip(`${title}: not begun`);
    else if (said) task.title = said;
  },
});

function showVerdict(terminal: Terminal, own: { title?: string | undefined }, result: TestResult | undefined): void {
  if (!result) return;
  const [, ...reasons] = showTestResult(terminal, result).split('\n');
  own.title = [result.name, ...reasons].join('\n');
  if (result.status !== 'passed') throw new Error(result.status);
}

/** An unhandled rejection must not end the process. */
function guarded<Value>(): PromiseWithResolvers<Value> {
  const made = Promise.withResolvers<Value>();
  made.promise.catch(() => {});
  return made;
}
