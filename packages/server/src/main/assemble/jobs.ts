import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Tenant } from '../../caller.ts';
import { removeConnectionsOfUser, resumeAfterConnecting } from '../../domains/apps/api.ts';
import { advanceBatch, itemEraser, unfinishedBatches } from '../../domains/batches/api.ts';
import { type Computers, type ComputerWork, wakeBeforehand } from '../../domains/computers/api.ts';
import type { Engine } from '../../domains/engine/api.ts';
import { eraseConversationsOf } from '../../domains/engine/records/erase.ts';
import { keepMemories } from '../../domains/engine/runs/keep-memory.ts';
import { takeUpReply } from '../../domains/engine/turns/begin-reply.ts';
import { takeUpTask } from '../../domains/engine/turns/begin-task.ts';
import { expireInteractions } from '../../domains/engine/turns/expire.ts';
import { stopUser } from '../../domains/engine/turns/stop.ts';
import { unfinishedReplies, unfinishedTasks } from '../../domains/engine/turns/sweep.ts';
import { emit, eraseEventsOf } from '../../domains/events/api.ts';
import { fileEraser } from '../../domains/files/api.ts';
import { eraseSpender, foldLedger } from '../../domains/ledger/api.ts';
import { forgetOutagesOf } from '../../domains/mcp-servers/api.ts';
import { eraseMemoriesOf } from '../../domains/memory/api.ts';
import { documentsToIndex, indexDocument, pruneContent, pruneIndexes } from '../../domains/notebooks/api.ts';
import { eraseReplaysOf, playReplay, unfinishedReplays } from '../../domains/replays/api.ts';
import { deleteRoutinesOf, runDueRoutines } from '../../domains/routines/api.ts';
import { removeSecretsOfUser } from '../../domains/secrets/api.ts';
import { removeSessionsOfUser } from '../../domains/sessions/api.ts';
import { type Player, playTestRun, unfinishedTestRuns } from '../../domains/test-runs/api.ts';
import { capsOf, type EraseStep, eraseUser, unfinishedErasures } from '../../domains/users/api.ts';
import { forgetAnswers } from '../../http/idempotency.ts';
import type { catalog, JobSender } from '../../jobs/catalog.ts';
import { pruneOld } from '../../jobs/retention.ts';
import type { SweepSource } from '../../jobs/sweep.ts';
import type { JobHandlers } from '../../jobs/worker.ts';
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
