import { failed, type OwnTool, ownTool, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { Failure, fail } from '@vestra/contract/errors';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { timeZone } from '@vestra/contract/time-zone';
import { z } from 'zod';
import type { Engine } from '../../engine/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import {
  type AgentRoutines,
  type AskedRoutine,
  keptRoutines,
  pretendedRoutines,
  type SeenRoutine,
} from './agent-routines.ts';

/** What a person may ask the agent for: to do something again and again or later, to say what it does, and to stop it. */
export function routineTools(db: Database): Engine['routineTools'] {
  return ({ tenant, turn, isPretend }) => {
    const asker = { db, tenant, turn };
    const routines = isPretend ? pretendedRoutines(asker) : keptRoutines(asker);
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
    (given) => answering(async () => `Scheduled. ${lineOf(await routines.add(readAsked(given)))}`),
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
    () => answering(async () => (await routines.list()).map(lineOf).join('\n') || 'Nothing is scheduled.'),
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
      answering(async () => {
        await routines.remove(routine_id);
        return 'It is stopped and will not run again.';
      }),
  );

function readAsked({ ask, every, cron, timezone, name }: z.output<typeof addInput>): AskedRoutine {
  if ((every === undefined) === (cron === undefined))
    throw fail('invalid_schedule', { message: 'Give either `every` or `cron`.' });
  if (timezone !== undefined && !timeZone().safeParse(timezone).success) throw fail('invalid_user_timezone');
  return { ask, every, cron, timezone, name: name ?? nameOfRoutine({ ask }) };
}

/** What is wrong with a call is for the model to read and to mend. */
async function answering(work: () => Promise<string>): Promise<ToolAnswer> {
  try {
    return said(await work());
  } catch (error) {
    if (error instanceof Failure) return failed(error.message);
    throw error;
  }
}

const lineOf = ({ id, name, ask, every, cron, timezone, next_run_at, enabled }: SeenRoutine): string =>
  JSON.stringify({
    id,
    name,
    ask,
    when: cron === null ? 'on a call' : `${every ?? cron} (${timezone})`,
    next_run_at: next_run_at?.toISOString() ?? null,
    ...(!enabled && { paused: true }),
  });
