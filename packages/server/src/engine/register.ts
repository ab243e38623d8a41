import type { Followers } from '../account/index.ts';
import type { Kernel } from '../platform/kernel.ts';
import {
  anHour,
  type EraseConversations,
  type EraseFiles,
  type EraseTask,
  type Registration,
} from '../platform/registration.ts';
import { findUser } from '../users/index.ts';
import { deleteInactiveConversations, emptyKnowledge, removeFile } from './conversations/delete.ts';
import { conversationRoutes } from './conversations/routes.ts';
import { createDownloadLinks, fileEraser, pruneToolFiles, pruneUnused } from './files/content.ts';
import { fileRoutes } from './files/routes.ts';
import { interactionRoutes } from './interactions/routes.ts';
import { eraseConversations, eraseConversationsOf, eraseTestsOf, pruneStreams } from './records/conversation-log.ts';
import { openConversationsOfDeployment, openConversationsOfUser } from './records/conversations.ts';
import { isAttached } from './records/messages.ts';
import type { SpendOfPeriod } from './records/overview.ts';
import { pruneTraces, stepPartitions } from './records/run-steps.ts';
import { extractMemories } from './runs/extract-memories.ts';
import type { Engine } from './runs/ports.ts';
import { taskRoutes } from './tasks/routes.ts';
import { expireInteractions } from './turns/interactions.ts';
import { holdsOfEndedRuns, runReplyJob, runTaskJob, unfinishedReplies, unfinishedTasks } from './turns/start-run.ts';
import { deploymentDeleted, findWorkOfClosedOwners, stopConversations, userDisabled } from './turns/stop.ts';

export function register(
  { config, db, files, signingSecret, reports }: Kernel,
  {
    engine,
    followers,
    conversationErasure,
    taskErasure,
    fileErasure,
    spendOfPeriod,
  }: {
    engine: Engine;
    followers: Followers;
    conversationErasure: () => readonly EraseConversations[];
    taskErasure: () => readonly EraseTask[];
    fileErasure: () => readonly EraseFiles[];
    spendOfPeriod: SpendOfPeriod;
  },
): Registration {
  const { retentionDays: days } = config;
  return {
    routes({ publicUrl, streams }) {
      const links = createDownloadLinks(signingSecret, publicUrl);
      const linkTo = (fileId: string) => links.make(fileId).url;
      return {
        conversations: conversationRoutes({
          engine,
          followers,
          streams,
          linkTo,
          erasure: conversationErasure(),
          fileErasure: fileErasure(),
        }),
        // Loaded with the first request: no message needs it.
        overview: {
          get: async ({ caller, query, signal }) => {
            const { showOverview } = await import('./records/overview.ts');
            return reports(caller.orgId, () => showOverview({ db, spendOfPeriod }, caller, query), signal);
          },
        },
        interactions: interactionRoutes({ engine }),
        tasks: taskRoutes({ engine, followers, linkTo, erasure: taskErasure(), fileErasure: fileErasure() }),
        files: fileRoutes({
          db,
          store: files,
          links,
          isAttached: (conversationId, fileId) => isAttached(db, conversationId, fileId),
          remove: (tenant, fileId) => removeFile({ engine, erasure: fileErasure() }, tenant, fileId),
        }),
      };
    },
    jobs: {
      'turn.run': ({ conversation_id, turn_id }) => runReplyJob(engine, conversation_id, turn_id),
      'task.run': (task) => runTaskJob(engine, task),
      'user.stop': async ({ org_id: orgId, mode, user_id }) => {
        const tenant = { orgId, mode };
        // The user may have been enabled again since.
        if ((await findUser(db, tenant, user_id))?.status !== 'disabled') return;
        await stopConversations(engine, await openConversationsOfUser(db, tenant, user_id), userDisabled);
      },
      'deployment.stop': async ({ org_id, deployment_id }) => {
        const ids = await openConversationsOfDeployment(db, org_id, deployment_id);
        await stopConversations(engine, ids, deploymentDeleted);
      },
      'knowledge.empty': ({ org_id, object, id }, { signal }) =>
        emptyKnowledge(engine, { orgId: org_id, object, id }, signal),
      'interaction.expire': () => expireInteractions(engine),
      'memory.keep': (_payload, { signal }) => extractMemories(engine, signal),
    },
    sweeps: [unfinishedReplies, unfinishedTasks, holdsOfEndedRuns, findWorkOfClosedOwners()],
    retention: [
      { days: days.events, prune: pruneStreams },
      { days: days.traces, prune: pruneTraces, partitions: stepPartitions },
      { days: days.traces, prune: pruneToolFiles(files) },
      // Longer than an upload takes between the file store and its row.
      { days: anHour, prune: pruneUnused(files) },
    ],
    housekeeping: (signal) =>
      deleteInactiveConversations(
        { engine, followers, steps: conversationErasure(), fileErasure: fileErasure() },
        days.conversations,
        signal,
      ),
    conversationErasure: [eraseConversations],
    objectErasure: [eraseTestsOf],
    erasure: [eraseConversationsOf, fileEraser(files)],
  };
}
