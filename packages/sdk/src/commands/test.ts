import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { TestRun } from '../resources.ts';
import { followTestRun } from '../stream.ts';
import type { CallOptions } from '../transport.ts';

export type TestProgress =
  | { type: 'testing'; run: TestRun }
  /** A note about the run, such as what it waits for. */
  | { type: 'noted'; note: string }
  | { type: 'tested'; result: TestRun['results'][number] }
  | { type: 'tests_ended'; run: TestRun };

export type TestOptions = Pick<CallOptions, 'signal' | 'idempotencyKey'> & {
  /** Ends the waiting but not the run, which is then returned as it is. */
  enough?: AbortSignal | undefined;
  onProgress?: ((progress: TestProgress) => void) | undefined;
};

/** Runs the scenarios of a deployment and returns the run with all verdicts. */
export async function test(
  client: Client,
  { deployment }: CommandInput<'test'>,
  options: TestOptions = {},
): Promise<TestRun> {
  const { signal, idempotencyKey } = options;
  const deployment_id = deployment ?? (await onlyDeployment(client, signal));
  const run = await client.testRuns.create({ deployment_id }, { signal, idempotencyKey });
  return followTests(client, run, options);
}

/** Reports each verdict of a run once, and returns the finished run. */
export async function followTests(
  client: Client,
  run: TestRun,
  { signal, enough, onProgress = () => {} }: TestOptions = {},
): Promise<TestRun> {
  const told = new Set<string>();
  const tellEnded = (results: TestRun['results']) => {
    for (const result of results) {
      if (['queued', 'running'].includes(result.status) || told.has(result.scenario_id)) continue;
      told.add(result.scenario_id);
      onProgress({ type: 'tested', result });
    }
  };
  let lastNote = run.note;
  onProgress({ type: 'testing', run });
  const ends = AbortSignal.any([signal, enough].filter((each) => each !== undefined));
  for await (const { data } of followTestRun(client, run.id, { signal: ends })) {
    const { note } = 'test_run' in data ? data.test_run : data;
    if (note !== null && note !== lastNote) onProgress({ type: 'noted', note });
    lastNote = note;
    if (!('test_run' in data)) {
      tellEnded(data.results);
      continue;
    }
    tellEnded(data.test_run.results);
    onProgress({ type: 'tests_ended', run: data.test_run });
    return data.test_run;
  }
  return client.testRuns.get({ run_id: run.id }, { signal });
}

async function onlyDeployment(client: Client, signal: AbortSignal | undefined): Promise<string> {
  const { data } = await client.deployments.list({ limit: 2 }, { signal });
  const [only, another] = data;
  if (only && !another) return only.id;
  throw new VestraError('Name the `deployment` whose scenarios to play.', {
    status: 400,
    type: 'invalid_request',
    code: 'deployment_required',
    param: 'deployment',
  });
}
