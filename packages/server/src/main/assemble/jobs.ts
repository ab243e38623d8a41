import { emit } from '../../account/events/emit.ts';
import { eraseEventsOf } from '../../account/events/store.ts';
import { removeSecretsOfUser } from '../../account/secrets/store.ts';
import { documentsToIndex, indexDocument, pruneContent, pruneIndexes } from '../../agents/notebooks/index.ts';
import { forgetOutagesOf } from '../../agents/tool-servers/index.ts';
import { advanceBatch } from '../../automation/batches/advance.ts';
import { itemEraser } from '../../automation/batches/erase.ts';
import { unfinishedBatches } from '../../automation/batches/sweep.ts';
import { runDueRoutines } from '../../automation/routines/run-due.ts';
import { deleteRoutinesOf } from '../../automation/routines/store.ts';
import { eraseSpender } from '../../billing/erase.ts';
import { foldLedger } from '../../billing/fold.ts';
import type { Computers } from '../../computers/awake.ts';
import { wakeBeforehand } from '../../computers/warm.ts';
import type { ComputerWork } from '../../computers/work-computers.ts';
import { fileEraser } from '../../engine/files/index.ts';
import type { Engine } from '../../engine/index.ts';
import { eraseConversationsOf } from '../../engine/records/erase.ts';
import { keepMemories } from '../../engine/runs/keep-memory.ts';
import { takeUpReply } from '../../engine/turns/begin-reply.ts';
import { takeUpTask } from '../../engine/turns/begin-task.ts';
import { expireInteractions } from '../../engine/turns/expire.ts';
import { stopUser } from '../../engine/turns/stop.ts';
import { unfinishedReplies, unfinishedTasks } from '../../engine/turns/sweep.ts';
import { eraseReplaysOf } from '../../evaluation/replays/erase.ts';
import { playReplay, unfinishedReplays } from '../../evaluation/replays/play.ts';
import { playTestRun, unfinishedTestRuns } from '../../evaluation/test-runs/play.ts';
import type { Player } from '../../evaluation/test-runs/playing.ts';
import { resumeAfterConnecting } from '../../integrations/apps/resume-after-connecting.ts';
import { removeConnectionsOfUser } from '../../integrations/apps/store.ts';
import { removeSessionsOfUser } from '../../integrations/sessions/store.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import { forgetAnswers } from '../../platform/http/idempotency.ts';
import type { catalog, JobSender } from '../../platform/jobs/catalog.ts';
import { pruneOld } from '../../platform/jobs/retention.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import type { JobHandlers } from '../../platform/jobs/worker.ts';
import { type EraseStep, eraseUser } from '../../users/erase.ts';
import { eraseMemoriesOf } from '../../users/memory/store.ts';
import { capsOf } from '../../users/store.ts';
import { unfinishedErasures } from '../../users/unfinished-erasures.ts';
import type { Kernel } from '../kernel.ts';
import { expiryRules, retentionRules } from './retention.ts';

/** What each domain does to forget a user, in the order in which nothing can grow again behind it. */
const eraseSteps = (files: FileStore, jobs: JobSender): readonly EraseStep[] => [
  removeSessionsOfUser,
  removeConnectionsOfUser,
  forgetOutagesOf,
  deleteRoutinesOf,
  itemEraser(jobs),
  eraseConversationsOf,
  eraseReplaysOf,
  fileEraser(files),
  async (tx, tenant, userId) => {
    // The answer that shows a fact does not say whose it is.
    const shownIds = await eraseMemoriesOf(tx, tenant, userId);
    await forgetAnswers(tx, tenant, { userId, shownIds });
  },
  removeSecretsOfUser,
  eraseSpender,
  eraseEventsOf,
];

/** Where each domain keeps work that must have a job. */
export const sweepSources = ({ embeddings }: Kernel): SweepSource[] => [
  unfinishedErasures,
  unfinishedReplies,
  unfinishedTasks,
  unfinishedBatches,
  unfinishedTestRuns,
  unfinishedReplays,
  documentsToIndex(embeddings),
];

export function assembleJobs(
  { comparesVectors, config, customerMemory, db, embeddings, files, jobs, log, publicUrl }: Kernel,
  parts: { engine: Engine; player: Player; computers: Pick<Computers, 'erase'>; computerWork: ComputerWork },
): JobHandlers<typeof catalog> {
  const { engine, player, computers, computerWork } = parts;
  const steps = eraseSteps(files, jobs);
  const forgetElsewhere = (tenant: Tenant, userId: string) => customerMemory.forgetUser(db, tenant, userId);
  const rules = retentionRules(config.retentionDays, files);
  return {
    'ledger.fold': () => foldLedger(db, { emit, capsOfUsers: capsOf }),
    'user.erase': async ({ org_id, mode, user_id }) => {
      // First, so that calls in flight are charged while it is known whose they are, and no run wakes the computer again.
      await stopUser(engine, { orgId: org_id, mode }, user_id);
      // In no transaction: whatever runs on it ends first.
      await computers.erase({ orgId: org_id, mode, userId: user_id });
      await eraseUser({ db, log }, { steps, elsewhere: forgetElsewhere }, { orgId: org_id, mode }, user_id);
    },
    'turn.run': ({ conversation_id, turn_id }) => takeUpReply(engine, conversation_id, turn_id),
    'task.run': (task) => takeUpTask(engine, task),
    'batch.advance': ({ org_id, mode, batch_id }) => advanceBatch(engine, { orgId: org_id, mode, batchId: batch_id }),
    'document.index': ({ document_id }, { signal }) =>
      indexDocument({ db, embeddings, comparesVectors }, document_id, signal),
    'computer.warm': ({ org_id, mode, user_id }, { signal }) =>
      wakeBeforehand({ db, work: computerWork, log }, { orgId: org_id, mode }, user_id, signal),
    'test_run.play': ({ run_id }, { signal }) => playTestRun(player, run_id, signal),
    'replay.play': ({ replay_id }, { signal }) => playReplay(player, replay_id, signal),
    'routine.run_due': async (_payload, { signal }) => {
      await runDueRoutines({ engine, publicUrl: publicUrl.get }, { signal });
    },
    'connection.settle': ({ org_id, mode, connection_id }) =>
      resumeAfterConnecting(engine, { orgId: org_id, mode, connectionId: connection_id }),
    'interaction.expire': () => expireInteractions(engine),
    'memory.keep': (_payload, { signal }) => keepMemories(engine, signal),
    housekeeping: async (_payload, { signal }) => {
      // Once an hour: what has run out since must all go, however much it is.
      await pruneOld(db, expiryRules, { signal, mostBatches: Number.POSITIVE_INFINITY });
      await pruneContent(db, signal);
      await pruneIndexes(db, embeddings.model, signal);
    },
    retention: (_payload, { signal }) => pruneOld(db, rules, { signal }),
  };
}
