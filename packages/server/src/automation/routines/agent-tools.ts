import { failed, type OwnTool, ownTool, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { timeZone } from '@vestra/contract/time-zone';
import { z } from 'zod';
import { recordAudit } from '../../account/index.ts';
import type { TurnRow } from '../../engine/conversations/index.ts';
import type { Engine } from '../../engine/index.ts';
import { agentOrigin, type Origin, type Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { readCron } from './cron.ts';
import { assertNotFileManaged, nextRunsAfter, zoneFor } from './routine.ts';
import { nextRunOfSchedule, type OneTime, readWords, type Schedule, scheduleIn } from './schedule.ts';
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

/** Tools with which the agent schedules, lists and removes routines for its user. */
export function routineTools(db: Database): Engine['routineTools'] {
  return ({ tenant, turn, isSimulated }) => {
    const asker = { db, tenant, turn };
    const routines = isSimulated ? pretendedRoutines(asker) : storedRoutines(asker);
    return [addTool(routines), listTool(routines), removeTool(routines)];
  };
}

const addInput = z.strictObject({
  ask: text('What is to be done each time, as the person would say it.', 8000),
  every: text(
    'When, in plain words: `weekday at 08:00`, `mon, fri at 18:30`, `2 hours`, `month on the 1st at 09:00`. Once: `tomorrow at 9`, `2026-12-01 at 09:00`.',
    100,
  ).optional(),
  cron: text('When, as five cron fields, where plain words cannot say it. Instead of `every`.', 120).optional(),
  timezone: text('An IANA name such as Europe/Berlin. Absent: the person’s own.', 64).optional(),
  name: text('A few words to find it by.', 200).optional(),
});

const addTool = (routines: AgentRoutines): OwnTool =>
  ownTool(
    {
      name: 'routines_add',
      description:
        'Schedule something that the person wants done again and again, such as a report every Monday, or once at a later time. It is asked in this conversation at each of its times. At most once every 15 minutes.',
      input: addInput,
      isReadOnly: false,
    },
    (given) => answerTool(async () => `Scheduled. ${lineOf(await routines.add(readAsked(given)))}`),
  );

const nothing = z.strictObject({});

const listTool = (routines: AgentRoutines): OwnTool =>
  ownTool(
    {
      name: 'routines_list',
      description: 'Show what is scheduled for the person.',
      input: nothing,
      isReadOnly: true,
    },
    () => answerTool(async () => (await routines.list()).map(lineOf).join('\n') || 'Nothing is scheduled.'),
  );

const removeInput = z.strictObject({ routine_id: text('The id, which begins with rtn_.', 64) });

const removeTool = (routines: AgentRoutines): OwnTool =>
  ownTool(
    {
      name: 'routines_remove',
      description: 'Stop something that is scheduled, by the id that `routines_list` shows.',
      input: removeInput,
      isReadOnly: false,
    },
    ({ routine_id }) =>
      answerTool(async () => {
        await routines.remove(routine_id);
        return 'It is stopped and will not run again.';
      }),
  );

function readAsked({ ask, every, cron, timezone, name }: z.output<typeof addInput>): RequestedRoutine {
  if ((every === undefined) === (cron === undefined))
    throw fail('invalid_schedule', { message: 'Give either `every` or `cron`.' });
  if (timezone !== undefined && !timeZone().safeParse(timezone).success) throw fail('invalid_user_timezone');
  return { ask, every, cron, timezone, name: name ?? nameOfRoutine({ ask }) };
}

/** A failure is returned to the model, which can correct its call. */
async function answerTool(work: () => Promise<string>): Promise<ToolAnswer> {
  try {
    return said(await work());
  } catch (error) {
    if (error instanceof Failure) return failed(error.message);
    throw error;
  }
}

const lineOf = ({ id, name, ask, every, cron, timezone, next_run_at, enabled }: ListedRoutine): string =>
  JSON.stringify({
    id,
    name,
    ask,
    when: cron === null ? 'on a call' : `${every ?? cron} (${timezone})`,
    next_run_at: next_run_at?.toISOString() ?? null,
    ...(!enabled && { paused: true }),
  });

type RequestedRoutine = {
  ask: string;
  name: string;
  every?: string | undefined;
  cron?: string | undefined;
  timezone?: string | undefined;
};

type ListedRoutine = Pick<
  RoutineRow,
  'id' | 'name' | 'ask' | 'every' | 'cron' | 'timezone' | 'next_run_at' | 'enabled'
>;

/** Routines of the user whom the agent serves. */
type AgentRoutines = {
  add: (asked: RequestedRoutine) => Promise<ListedRoutine>;
  list: () => Promise<readonly ListedRoutine[]>;
  remove: (id: string) => Promise<void>;
};

type Asker = { db: Database; tenant: Tenant; turn: TurnRow };

/** Bounds what a user can make the agent schedule. */
const maxRoutinesOfUser = 50;

function storedRoutines({ db, tenant, turn }: Asker): AgentRoutines {
  const userId = turn.user_id;
  const origin = agentOrigin(tenant);
  return {
    add: (asked) =>
      transaction(db, async (tx) => {
        const now = sharedDate();
        const when = whenOf(asked);
        if ((await countRoutines(tx, tenant, userId)) >= maxRoutinesOfUser) {
          throw fail('invalid_request', { message: `At most ${maxRoutinesOfUser} are kept: remove one first.` });
        }
        const zone = await zoneFor(tx, tenant, { timezone: asked.timezone, userId });
        const row = {
          id: newId('rtn'),
          org_id: tenant.orgId,
          mode: tenant.mode,
          user_id: userId,
          // Results appear in the conversation in which the routine was requested.
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
    list: () => listRoutines(db, tenant, userId, { limit: maxRoutinesOfUser, after: null }),
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

/** In a test nothing is scheduled: the tools answer from rows that only the test conversation sees. */
function pretendedRoutines({ db, tenant, turn }: Asker): AgentRoutines {
  const seen = (row: PretendedRoutine): ListedRoutine => ({
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

const whenOf = ({ every, cron }: RequestedRoutine): Schedule | OneTime =>
  every === undefined ? { every: null, cron: readCron(cron ?? '', 'cron') } : readWords(every, 'every');

const audit = (tx: Transaction, origin: Origin, action: 'routine.created' | 'routine.deleted', id: string) =>
  recordAudit(tx, origin, { action, target: { type: 'routine', id }, details: { kind: 'schedule' } });
