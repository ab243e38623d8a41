import type { Embeddings } from '../agents/index.ts';
import type { Engine } from '../engine/index.ts';
import { createWaiters } from '../platform/async/waiters.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { eraseNotes } from './feedback/feedback.ts';
import { feedbackRoutes } from './feedback/routes.ts';
import { insightRoutes } from './insights/routes.ts';
import type { Player } from './player/player.ts';
import { replayQueue, testRunQueue, unfinishedPlays } from './player/unfinished-plays.ts';
import { eraseReplaysFrom, eraseReplaysOf } from './replays/replays.ts';
import { replayRoutes } from './replays/routes.ts';
import { conversationDraftRoutes, draftRoutes, scenarioRoutes } from './scenarios/routes.ts';
import { type TestRunDependencies, testRunRoutes } from './test-runs/routes.ts';

export type EvaluationServices = Omit<Player, 'engine'> & {
  engine: Engine;
  upToDateVersion: TestRunDependencies['upToDateVersion'];
};

export function register(
  { db, jobs, processNews, embeddings }: Kernel & { embeddings: Embeddings },
  { upToDateVersion, ...player }: EvaluationServices,
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
        insights: insightRoutes({ db, embeddings }),
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
    },
    sweeps: [unfinishedPlays(testRunQueue), unfinishedPlays(replayQueue)],
    conversationErasure: [eraseReplaysFrom],
    taskErasure: [eraseNotes],
    erasure: [eraseReplaysOf],
  };
}
