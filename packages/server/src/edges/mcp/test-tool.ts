import { fail } from '@vestra/contract/errors';
import type { StreamedEvent } from '../streamed-events.ts';
import { followFor } from './follow-for.ts';
import type { ToolCaller } from './tool-caller.ts';

/** Plays the scenarios and answers the run: with every verdict, or as far as it is when clients would give the call up. */
export async function testTool(given: Record<string, unknown>, caller: ToolCaller): Promise<unknown> {
  const { routes } = caller;
  const deployment = (given.deployment as string | undefined) ?? (await onlyDeployment(caller));
  const path = `/v1/deployments/${encodeURIComponent(deployment)}/test-runs`;
  const { id } = await routes.call<{ id: string }>({ method: 'POST', path, headers: routes.once });
  const run = { method: 'GET', path: `/v1/test-runs/${id}` };
  await followFor((signal) => routes.follow<StreamedEvent>({ ...run, path: `${run.path}/events`, signal }), caller);
  return routes.call(run);
}

async function onlyDeployment({ routes }: ToolCaller): Promise<string> {
  const { data } = await routes.call<{ data: { id: string }[] }>({
    method: 'GET',
    path: '/v1/deployments',
    query: { limit: 2 },
  });
  const [only, another] = data;
  if (only && !another) return only.id;
  throw fail('deployment_required', { param: 'deployment', message: 'Name the `deployment` whose scenarios to play.' });
}
