import { emitAllStatement } from '../../account/index.ts';
import { manifestOf } from '../../agents/versions/index.ts';
import { holdAllOptimistically } from '../../billing/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertManySql, pipelined, runStatement } from '../../platform/db/query.ts';
import { type RunLease, takeNewRunsStatement } from '../../platform/jobs/run-lease.ts';
import type { UserRow } from '../../users/index.ts';
import { type CommittedChange, collectEvents, concludeChange, orgEventsOf } from '../records/change.ts';
import { insertConversationsStatements } from '../records/conversation-log.ts';
import { insertPreviewsStatement } from '../records/previews.ts';
import { type ConversationRow, messages, type TaskRow, type TurnRow, tasks, turns } from '../records/tables.ts';
import { type Admission, decideTask, decideTurn, type NewMessage, publishCreated } from '../transitions/begin-turn.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import type { AcceptedState, Turns } from './ports.ts';
import type { RunSlot } from './runner.ts';
import { maxCostOfMessage } from './spending.ts';

/** A new conversation whose first message starts a task. */
export type NewTask = { conversation: ConversationRow; user: UserRow | null; message: NewMessage };

type StartedTask = { turn: TurnRow; task: TaskRow; committed: CommittedChange };

/**
 * Starts the tasks of many conversations of one org and deployment in a few statements, as `acceptMessage` and
 * `runTaskJob` do for each. `slots` has one reserved slot per task, and this process owns the tasks from the commit
 * on. Without a commit, the caller releases the slots. Returns null if money is tight: then nothing was written, and
 * the caller starts the tasks one by one.
 */
export async function startTasks(
  engine: Turns,
  tx: Transaction,
  admission: Admission,
  works: readonly NewTask[],
  slots: readonly RunSlot[],
): Promise<StartedTask[] | null> {
  const [[first], [lease]] = [works, slots];
  if (!first || !lease) return [];
  const tenant = { orgId: first.conversation.org_id, mode: first.conversation.mode };
  if (engine.money.hasWaiting(tenant)) return null;
  const { language } = await manifestOf(tx, first.conversation.deployment_id as string, admission.version);
  const planned = works.map((work) => plan(work, admission, language));
  const holds = await holdAllOptimistically(
    tx,
    tenant,
    planned.map(({ task, micros }, at) => ({
      userId: task.user_id,
      userCaps: capsOf(works[at]?.user),
      amountMicros: micros,
      runId: task.id,
    })),
  );
  if (holds === null) return null;
  const [versions, , , , , runs] = await pipelined(tx, [
    ...insertConversationsStatements(planned.map(({ conversation: row, entries }) => ({ row, entries }))),
    runStatement(
      insertManySql(
        messages,
        planned.flatMap(({ asked, acknowledged }) => [asked, acknowledged]),
      ),
    ),
    runStatement(
      insertManySql(
        turns,
        planned.map(({ turn }) => turn),
      ),
    ),
    runStatement(
      insertManySql(
        tasks,
        planned.map(({ task }) => task),
      ),
    ),
    takeNewRunsStatement(
      planned.map(({ task }) => task.id),
      lease,
    ),
    insertPreviewsStatement(planned),
    emitAllStatement(planned.flatMap(({ conversation, emitted }) => orgEventsOf(conversation, emitted))),
  ]);
  const versionOf = new Map(versions.map(({ id, version }) => [id, version]));
  const epochOf = new Map(runs.map(({ id, epoch }) => [id, epoch]));
  return planned.map(({ conversation, entries, turn, task, asked, micros }, at) => {
    const run: RunLease = { runId: task.id, epoch: epochOf.get(task.id) as number };
    const hold = { reservationId: holds[at] as string, micros };
    const fresh: AcceptedState = { isFirstRun: true, hold, asked, user: works[at]?.user ?? null };
    const perform = () =>
      void engine.runner.perform(
        run,
        task,
        (signal) => engine.work.task({ task, turn, run, fresh }, signal),
        slots[at],
      );
    const version = versionOf.get(conversation.id) ?? null;
    return { turn, task, committed: { conversation, version, entries, afterwards: [perform] } };
  });
}

const capsOf = (user: UserRow | null | undefined) =>
  user ? { daily: user.daily_cap_micros, monthly: user.monthly_cap_micros } : null;

function plan({ conversation: before, user, message }: NewTask, admission: Admission, language: string) {
  const events = collectEvents();
  publishCreated(events, before);
  const { conversation, asked, turn: begun } = decideTurn(before, admission, message, events);
  const { text: ask } = asked;
  const acknowledgement = acknowledgementIn({ locale: user?.locale ?? null, language, message: ask });
  const of = {
    status: 'working',
    title: null,
    ask,
    brief: null,
    acknowledgement,
    unstreamed: acknowledgement,
  } as const;
  const { task, message: acknowledged, turn } = decideTask(conversation, begun, of, events);
  conversation.open_tasks += 1;
  const entries = concludeChange(before, conversation, events.logged);
  const micros = maxCostOfMessage(admission.model, asked.text);
  return {
    conversation,
    entries,
    emitted: events.emitted,
    asked,
    acknowledged,
    turn: { ...begun, ...turn },
    task,
    micros,
  };
}
