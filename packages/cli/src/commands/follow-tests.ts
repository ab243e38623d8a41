import type { Client } from '@vestra/sdk/client';
import { followTestRun } from '@vestra/sdk/stream';
import { refuse } from '../fault.ts';
import type { TestResult, TestRun } from '../output/show-test-run.ts';

export type TestEvent =
  | { type: 'testing'; run: TestRun }
  | { type: 'tested'; result: TestResult }
  | { type: 'tests_ended'; run: TestRun };

type Options = { client: Client; run: TestRun; signal: AbortSignal; tell: (event: TestEvent) => void };

/** Tells each verdict as it falls, once, and gives the run as it ended. */
export async function followTests({ client, run, signal, tell }: Options): Promise<TestRun> {
  const told = new Set<string>();
  const tellEnded = (results: readonly TestResult[]) => {
    for (const result of results) {
      if (['queued', 'running'].includes(result.status) || told.has(result.scenario_id)) continue;
      told.add(result.scenario_id);
      tell({ type: 'tested', result });
    }
  };
  tell({ type: 'testing', run });
  for await (const { data } of followTestRun(client, run.id, { signal })) {
    if (!('test_run' in data)) {
      tellEnded(data.results);
      continue;
    }
    tellEnded(data.test_run.results);
    tell({ type: 'tests_ended', run: data.test_run });
    return data.test_run;
  }
  throw refuse(`The test run ${run.id} was left while it went on.`);
}
