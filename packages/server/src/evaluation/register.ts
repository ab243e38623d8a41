import type { Embeddings } from '../agents/index.ts';
import type { Engine } from '../engine/index.ts';
import { createWaiters } from '../platform/async/waiters.ts';
import { lazyRoutes } from '../platform/http/handler.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { eraseNotes } from './feedback/feedback.ts';
import { feedbackRoutes } from './feedback/routes.ts';
import type { Improver } from './improvements/run.ts';
import { forgetNames } from './insights/forget-names.ts';
import type { Player } from './player/player.ts';
import { improvementQueue, replayQueue, testRunQueue, unfinishedPlays } from './player/plays.ts';
import { eraseReplaysFrom, eraseReplaysOf } from './replays/replays.ts';
import { replayRoutes } from './replays/routes.ts';
import { conversationDraftRoutes, draftRoutes, scenarioRoutes } from './scenarios/routes.ts';
import { type TestRunDependencies, testRunRoutes } from './test-runs/routes.ts';

export type EvaluationServices = Omit<Player, 'engine'> & {
  engine: Engine;
  upToDateVersion: TestRunDependencies['upToDateVersion'];
  fileScenariosOf: Improver['fileScenariosOf'];
};

export function register(
  { db, jobs, processNews, reports, embeddings }: Kernel & { embeddings: Embeddings },
  { upToDateVersion, fileScenariosOf, ...player }: EvaluationServices,
): Registration {
  const { engine } = player;
  return {
    routes({ streams }) {
      const watchers = createWaiters();
      processNews.on('test_run', watchers.wake);
      return {
        scenarios: { ...scenarioRoutes({ db }), ...draftRoutes({ engine }) },
        testRuns: testRunRoutes({ db, engine, jobs, upToDateVersion, watchers, streams }),
        replays: replayRoutes({ engine, jobs }),
        improvements: lazyRoutes('improvements', async () => {
          const { improvementRoutes } = await import('./improvements/routes.ts');
          return improvementRoutes({ engine, jobs, upToDateVersion, reports });
        }),
        insights: lazyRoutes('insights', async () => {
          const { insightRoutes } = await import('./insights/routes.ts');
          return insightRoutes({ engine, embeddings, reports });
        }),
        feedback: feedbackRoutes({ db }),
        conversations: conversationDraftRoutes({ engine }),
      };
    },
    jobs: {
      // Loaded with the first play, so that a start reads less.
      'test_run.play': async ({ run_id }, { signal }) =>
        (await import('./test-runs/play.ts')).playTestRun(player, run_id, signal),
      'replay.play': async ({ replay_id }, { signal }) =>
        (await import('./replays/play.ts')).playReplay(player, replay_id, signal),
      'improvement.run': async ({ improvement_id }, { signal }) => {
        const { runImprovement } = await import('./improvements/run.ts');
        return runImprovement({ ...player, jobs, fileScenariosOf }, improvement_id, signal);
      },
    },
    sweeps: [unfinishedPlays(testRunQueue), unfinishedPlays(replayQueue), unfinishedPlays(improvementQueue)],
    conversationErasure: [
      eraseReplaysFrom(player),
      async (...of) => (await import('./improvements/erase.ts')).eraseImprovementsFrom(player)(...of),
      (tx, tenant, conversationIds) => forgetNames(tx, tenant, conversationIds),
    ],
    taskErasure: [eraseNotes, (tx, tenant, { conversationId }) => forgetNames(tx, tenant, [conversationId])],
    erasure: [
      (tx, tenant) => forgetNames(tx, tenant, 'all'),
      eraseReplaysOf(player),
      async (...of) => (await import('./improvements/erase.ts')).eraseImprovementsOf(player)(...of),
    ],
  };
}
