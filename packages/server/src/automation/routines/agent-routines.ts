import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { TurnRow } from '../../engine/conversations/index.ts';
import { agentOrigin, type Origin, type Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { readCron } from './cron.ts';
import { zoneFor } from './deployment-of-routine.ts';
import type { OneTime } from './one-time.ts';
import { assertNotFileManaged, nextRunsAfter } from './routine.ts';
import { nextRunOfSchedule, readWords, type Schedule, scheduleIn } from './schedule.ts';
import {
  countRoutines,
  deletePretended,
  deleteRoutines,
  insertPretended,
  insertRoutine,
  listPretended,
  listRoutines,
  lockRoutine,
} from './store.ts';
import type { PretendedRoutine, RoutineRow } from './tables.ts';

/** Of a routine, what the agent is asked for. */
export type AskedRoutine = {
  ask: string;
  name: string;
  every?: string | undefined;
  cron?: string | undefined;
  timezone?: string | undefined;
};

/** Of a routine, what the agent sees. */
export type SeenRoutine = Pick<
  RoutineRow,
  'id' | 'name' | 'ask' | 'every' | 'cron' | 'timezone' | 'next_run_at' | 'enabled'
>;

/** The routines of the person that the agent speaks with. */
export type AgentRoutines = {
  add: (asked: AskedRoutine) => Promise<SeenRoutine>;
  list: () => Promise<readonly SeenRoutine[]>;
  remove: (id: string) => Promise<void>;
};

type Asker = { db: Database; tenant: Tenant; turn: TurnRow };

/** Whoever talks an agent into scheduling without end meets this. */
const mostOfUser = 50;

export function keptRoutines({ db, tenant, turn }: Asker): AgentRoutines {
  const userId = turn.user_id;
  const origin = agentOrigin(tenant);
  return {
    add: (asked) =>
      transaction(db, async (tx) => {
        const now = sharedDate();
        const when = whenOf(asked);
        if ((await countRoutines(tx, tenant, userId)) >= mostOfUser) {
          throw fail('invalid_request', { message: `At most ${mostOfUser} are kept: remove one first.` });
        }
        const zone = await zoneFor(tx, tenant, { timezone: asked.timezone, userId });
        const row = {
          id: newId('rtn'),
          org_id: tenant.orgId,
          mode: tenant.mode,
          user_id: userId,
          // What comes of it is read where it was asked for.
          conversation_id: turn.conversation_id,
          own_conversation: true,
          deployment_id: turn.deployment_id,
          made_by_agent: true,
          name: asked.name,
          ask: asked.ask,
          kind: 'schedule' as const,
          enabled: true,
          status: 'active' as const,
          ...scheduleIn(zone.timezone, when, now),
          ...zone,
        };
        const routine = await insertRoutine(tx, { ...row, next_run_at: nextRunsAfter(now)(row) });
        await audit(tx, origin, 'routine.created', routine.id);
        return routine;
      }),
    list: () => listRoutines(db, tenant, userId, { limit: mostOfUser, after: null }),
    remove: (id) =>
      transaction(db, async (tx) => {
        const routine = await lockRoutine(tx, tenant, id);
        if (!routine || routine.user_id !== userId) throw fail('routine_not_found');
        assertNotFileManaged(routine);
        await deleteRoutines(tx, [id]);
        await audit(tx, origin, 'routine.deleted', id);
      }),
  };
}

/** In a test everything answers as if it were kept, and the test sees what it has made itself. */
export function pretendedRoutines({ db, tenant, turn }: Asker): AgentRoutines {
  const seen = (row: PretendedRoutine): SeenRoutine => ({
    ...row,
    next_run_at: nextRunOfSchedule(row, row.timezone, sharedDate()),
    enabled: true,
  });
  return {
    add: (asked) =>
      transaction(db, async (tx) => {
        const { timezone } = await zoneFor(tx, tenant, {
          timezone: asked.timezone,
          userId: turn.user_id,
        });
        const row = {
          conversation_id: turn.conversation_id,
          id: newId('rtn'),
          name: asked.name,
          ask: asked.ask,
          timezone,
          ...scheduleIn(timezone, whenOf(asked), sharedDate()),
        };
        return seen(await insertPretended(tx, row));
      }),
    list: async () => (await listPretended(db, turn.conversation_id)).map(seen),
    async remove(id) {
      if (!(await deletePretended(db, turn.conversation_id, id))) throw fail('routine_not_found');
    },
  };
}

const whenOf = ({ every, cron }: AskedRoutine): Schedule | OneTime =>
  every === undefined ? { every: null, cron: readCron(cron ?? '', 'cron') } : readWords(every, 'every');

const audit = (tx: Transaction, origin: Origin, action: 'routine.created' | 'routine.deleted', id: string) =>
  recordAudit(tx, origin, { action, target: { type: 'routine', id }, details: { kind: 'schedule' } });
