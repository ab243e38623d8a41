import { fail } from '@vestra/contract/errors';
import type { ShownInteraction } from '../conversation-event.ts';
import type { OwnRoutes } from '../own-routes.ts';
import type { ToolCaller } from './tool-caller.ts';

export async function answerTool(given: Record<string, unknown>, { routes }: ToolCaller): Promise<unknown> {
  const { user, interaction, ...answer } = given as { user?: string; interaction?: string };
  const id = interaction ?? (await onlyOneOpen(routes, user ?? null));
  return routes.call({ method: 'POST', path: `/v1/interactions/${id}/answer`, body: answer });
}

/** So many pages of waits that are others' are looked through for one. */
const mostPages = 10;

async function onlyOneOpen(routes: OwnRoutes, userId: string | null): Promise<string> {
  const found: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages && found.length < 2; page++) {
    const { data, next_cursor } = await routes.call<{ data: ShownInteraction[]; next_cursor: string | null }>({
      method: 'GET',
      path: '/v1/interactions',
      query: { user_id: userId ?? undefined, limit: 100, cursor },
    });
    found.push(...data.filter(({ user_id }) => user_id === userId).map(({ id }) => id));
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  const [only, another] = found;
  const whose = userId === null ? 'the org’s own agent' : `the agent of ${userId}`;
  if (only === undefined) throw fail('interaction_not_found', { message: `Nothing that ${whose} waits on is open.` });
  if (another === undefined) return only;
  throw fail('invalid_request', {
    param: 'interaction',
    message: `More than one is open for ${whose}: name the interaction, such as ${only} or ${another}.`,
  });
}
