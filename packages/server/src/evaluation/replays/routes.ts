import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { lastSeenId } from '../deployment-cursor.ts';
import { cancelReplay, createReplay, deleteReplay, presentReplay, stopReplay } from './replays.ts';
import { findReplay, listReplays } from './store.ts';

export function replayRoutes({ engine, jobs }: { engine: Engine; jobs: JobSender }): Handlers<'replays'> {
  const { db } = engine;
  return {
    create: async ({ origin, params, body, commit }) => {
      const { version, conversation_ids: conversationIds, last } = body;
      const wanted = { reference: params.deployment_id, version, conversationIds, last };
      return commit((tx) => createReplay(tx, { engine, jobs }, origin, wanted));
    },
    list: async ({ caller, params, page }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const rows = await listReplays(db, caller, id, { limit: page.limit, below: lastSeenId(id, page.after) });
      return page.of(rows, presentReplay, ({ row }) => [row.deployment_id, row.id]);
    },
    get: async ({ caller, params }) => {
      const found = await findReplay(db, caller, params.replay_id);
      if (!found) throw fail('replay_not_found');
      return presentReplay(found);
    },
    cancel: async ({ origin, params }) => {
      const replay = await transaction(db, (tx) => cancelReplay(tx, origin, params.replay_id));
      await stopReplay(engine, replay);
      return replay;
    },
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => deleteReplay(tx, origin, params.replay_id));
      return { object: 'replay', id: params.replay_id, deleted: true };
    },
  };
}
