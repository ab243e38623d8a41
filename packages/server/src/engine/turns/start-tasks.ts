import { emitAllStatement } from '../../account/index.ts';
import { manifestOf } from '../../agents/versions/index.ts';
import { holdAllOptimistically } from '../../billing/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertOfMany, pipelined, running } from '../../platform/db/query.ts';
import { type Run, takingNewRuns } from '../../platform/jobs/run-owner.ts';
import type { UserRow } from '../../users/index.ts';
import { type Committed, collectTold, concluded, insertingConversations, toldOf } from '../records/change.ts';
import { type ConversationRow, messages, type TaskRow, type TurnRow, tasks, turns } from '../records/tables.ts';
import { type Admission, decideTask, decideTurn, type NewMessage, tellCreated } from '../transitions/begin-turn.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import { mostOfMessage } from './call-price.ts';
import type { AcceptedState, Turns } from './ports.ts';
import type { Place } from './runner.ts';

/** A conversation that is to begin with a message which goes straight to work. */
export type NewWork = { conversation: ConversationRow; user: UserRow | null; message: NewMessage };

type BegunWork = { turn: TurnRow; task: TaskRow; committed: Committed };

/**
 * Begins the work of many conversations of one org, all of one deployment, in a few statements: what `acceptMessage` and
 * `takeUpTask` do for each. `places`: one for each of them. This process owns the work from the commit on; where there is
 * none, whoever has reserved the places gives them back. Null where the money is not plenty: then nothing was written,
 * and each is taken by itself.
 */
export async function beginWork(
  engine: Turns,
  tx: Transaction,
  admission: Admission,
  works: readonly NewWork[],
  places: readonly Place[],
): Promise<BegunWork[] | null> {
  const [[first], [lease]] = [works, places];
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
    ...insertingConversations(planned.map(({ conversation: row, entries }) => ({ row, entries }))),
    running(
      insertOfMany(
        messages,
        planned.flatMap(({ asked, acknowledged }) => [asked, acknowledged]),
      ),
    ),
    running(
      insertOfMany(
        turns,
        planned.map(({ turn }) => turn),
      ),
    ),
    running(
      insertOfMany(
        tasks,
        planned.map(({ task }) => task),
      ),
    ),
    takingNewRuns(
      planned.map(({ task }) => task.id),
      lease,
    ),
    emitAllStatement(planned.flatMap(({ conversation, told }) => toldOf(conversation, told))),
  ]);
  const versionOf = new Map(versions.map(({ id, version }) => [id, version]));
  const epochOf = new Map(runs.map(({ id, epoch }) => [id, epoch]));
  return planned.map(({ conversation, entries, turn, task, asked, micros }, at) => {
    const run: Run = { runId: task.id, epoch: epochOf.get(task.id) as number };
    const hold = { reservationId: holds[at] as string, micros };
    const fresh: AcceptedState = { isFirstRun: true, hold, asked, user: works[at]?.user ?? null };
    const perform = () =>
      void engine.runner.perform(
        run,
        task,
        (signal) => engine.work.task({ task, turn, run, fresh }, signal),
        places[at],
      );
    const version = versionOf.get(conversation.id) ?? null;
    return { turn, task, committed: { conversation, version, entries, afterwards: [perform] } };
  });
}

const capsOf = (user: UserRow | null | undefined) =>
  user ? { daily: user.daily_cap_micros, monthly: user.monthly_cap_micros } : null;

function plan({ conversation: before, message }: NewWork, admission: Admission, language: string) {
  const told = collectTold();
  tellCreated(told, before);
  const { conversation, asked, turn: begun } = decideTurn(before, admission, message, told);
  const acknowledgement = acknowledgementIn(language, asked.text);
  const of = { status: 'working', title: null, brief: null, acknowledgement, unstreamed: acknowledgement } as const;
  const { task, message: acknowledged, turn } = decideTask(conversation, begun, of, told);
  conversation.open_tasks += 1;
  const entries = concluded(before, conversation, told.appended);
  const micros = mostOfMessage(admission.model, asked.text);
  return { conversation, entries, told: told.told, asked, acknowledged, turn: { ...begun, ...turn }, task, micros };
}
