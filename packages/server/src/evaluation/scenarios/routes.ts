import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { commitPrepared } from '../../platform/http/idempotency.ts';
import { lastSeenId } from '../deployment-cursor.ts';
import {
  changeScenario,
  createScenario,
  findScenario,
  listScenarios,
  presentScenario,
  removeScenario,
} from './scenarios.ts';

export function scenarioRoutes({ db }: { db: Database }): Handlers<'scenarios'> {
  return {
    list: async ({ caller, params, page }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const rows = await listScenarios(db, id, { limit: page.limit, below: lastSeenId(id, page.after) });
      return page.of(rows, presentScenario, (row) => [row.deployment_id, row.id]);
    },
    create: async ({ origin, params, body, commit }) =>
      commit(async (tx) =>
        presentScenario(await createScenario(tx, origin, { reference: params.deployment_id, fields: body })),
      ),
    get: async ({ caller, params }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const row = await findScenario(db, id, params.scenario_id);
      if (!row) throw fail('scenario_not_found');
      return presentScenario(row);
    },
    update: async ({ origin, params, body }) => {
      const change = { reference: params.deployment_id, scenarioId: params.scenario_id, changes: body };
      return presentScenario(await transaction(db, (tx) => changeScenario(tx, origin, change)));
    },
    delete: async ({ origin, params }) => {
      const place = { reference: params.deployment_id, scenarioId: params.scenario_id };
      await transaction(db, (tx) => removeScenario(tx, origin, place));
      return { object: 'scenario', id: params.scenario_id, deleted: true };
    },
  };
}

/** Any caller who can read the conversation may draft a scenario from it. */
export function conversationDraftRoutes({
  engine,
}: {
  engine: Engine;
}): Required<Pick<Handlers<'conversations'>, 'draftScenario'>> {
  return {
    draftScenario: async (incoming) => {
      const { caller, params, body, signal } = incoming;
      const talk = { conversationId: params.conversation_id, taskId: body.task_id ?? null };
      return commitPrepared(
        incoming,
        // Loaded with the first draft: a start needs neither the code nor its prompts.
        async () => {
          const { draftFromConversation } = await import('./scenario-from-conversation.ts');
          return draftFromConversation(engine, caller, talk, signal);
        },
        async (_tx, draft) => draft,
      );
    },
  };
}

export function draftRoutes({ engine }: { engine: Engine }): Required<Pick<Handlers<'scenarios'>, 'generate'>> {
  return {
    generate: async (incoming) => {
      const { caller, params, body, signal } = incoming;
      const wanted = { reference: params.deployment_id, count: body.count, version: body.version };
      return commitPrepared(
        incoming,
        async () => {
          const { generateScenarios } = await import('./generate.ts');
          return generateScenarios(engine, caller, wanted, signal);
        },
        async (_tx, data) => ({ object: 'list' as const, data }),
      );
    },
  };
}
