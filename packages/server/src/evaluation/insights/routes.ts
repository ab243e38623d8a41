import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Embeddings } from '../../agents/index.ts';
import { createLimiter } from '../../platform/async/limiter.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Handlers } from '../../platform/http/handler.ts';

export function insightRoutes({ db, embeddings }: { db: Database; embeddings: Embeddings }): Handlers<'insights'> {
  // A report may read for seconds. One org must not take the connections of all others.
  const limiter = createLimiter({ atOnce: 4, atOnceEach: 1, waitingEach: 16 });
  return {
    list: async ({ caller, params, query, page, signal }) => {
      const { id: deploymentId } = await requireDeployment(db, caller.orgId, params.deployment_id);
      // Loaded with the first report, so that a start reads less.
      const { findInsights, insightWindow, presentInsight } = await import('./insights.ts');
      const { kind } = query;
      const cursor = page.after;
      const [seenDeployment, seenKind, from, to, seenConversations, seenId] = cursor ?? [];
      const isSame = seenDeployment === deploymentId && seenKind === (kind ?? '');
      if (cursor && (cursor.length !== 6 || !isSame)) throw fail('invalid_cursor', { param: 'cursor' });
      // Later pages report the period of the first one, also after midnight.
      const window = insightWindow(cursor ? { from, to } : query);
      const wanted = { deploymentId, window, kind };
      const find = () => findInsights(db, { embeddings, signal }, caller, wanted);
      const report = await limiter.run(caller.orgId, find, signal);
      if (report === null) {
        throw fail('rate_limited', {
          message: 'Many reports are being created. Try again shortly.',
          retry_after_ms: 5000,
        });
      }
      const { insights, totalConversations, isComplete } = report;
      const most = Number(seenConversations);
      const rest = cursor
        ? insights.filter(({ conversations, id }) => {
            return conversations < most || (conversations === most && id > (seenId as string));
          })
        : insights;
      const list = page.of(
        rest.slice(0, page.limit + 1),
        (insight) => presentInsight(insight, window, report),
        ({ conversations, id }) => [deploymentId, kind ?? '', window.from, window.to, String(conversations), id],
      );
      return { ...list, period: window, total_conversations: totalConversations, is_complete: isComplete };
    },
  };
}
