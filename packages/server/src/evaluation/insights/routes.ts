import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Embeddings } from '../../agents/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Reports } from '../../platform/http/reports.ts';
import { nameGroups, namesOf } from './insight-names.ts';
import { createCachedReports, findInsights, insightWindow, presentInsight } from './insights.ts';

export function insightRoutes({
  engine,
  embeddings,
  reports,
}: {
  engine: Engine;
  embeddings: Embeddings;
  reports: Reports;
}): Handlers<'insights'> {
  const { db } = engine;
  const cached = createCachedReports();
  return {
    list: async ({ caller, params, query, page, signal }) => {
      const deployment = await requireDeployment(db, caller.orgId, params.deployment_id);
      const { id: deploymentId } = deployment;
      const { kind, name_groups: isNaming = false } = query;
      if (isNaming && caller.member?.role === 'viewer') throw fail('role_missing');
      const cursor = page.after;
      const [seenDeployment, seenKind, from, to, seenConversations, seenId] = cursor ?? [];
      const isSame = seenDeployment === deploymentId && seenKind === (kind ?? '');
      if (cursor && (cursor.length !== 6 || !isSame)) throw fail('invalid_cursor', { param: 'cursor' });
      // Later pages report the period of the first one, also after midnight.
      const window = insightWindow(cursor ? { from, to } : query);
      const wanted = { deploymentId, window, kind };
      const { orgId, mode } = caller;
      const key = JSON.stringify([orgId, mode, deploymentId, window.from, window.to, kind ?? '']);
      const cachedReport = () => cached.get(db, caller, deploymentId, key);
      const find = async () => {
        // Another request may have found it while this one waited.
        const known = await cachedReport();
        if (known) return known;
        const found = await findInsights(db, { embeddings, signal }, caller, wanted);
        cached.set(key, found);
        return found;
      };
      const report = (await cachedReport()) ?? (await reports(orgId, find, signal));
      const { insights, totalConversations, isComplete, quoted } = report;
      const most = Number(seenConversations);
      const rest = cursor
        ? insights.filter(({ conversations, id }) => {
            return conversations < most || (conversations === most && id > (seenId as string));
          })
        : insights;
      const insightsOfPage = rest.slice(0, page.limit);
      if (isNaming) await nameGroups(engine, caller, deployment, { report, insights: insightsOfPage }, signal);
      const names = await namesOf(db, caller, deploymentId, insightsOfPage);
      const list = page.of(
        rest.slice(0, page.limit + 1),
        (insight) => presentInsight(insight, window, report, names),
        ({ conversations, id }) => [deploymentId, kind ?? '', window.from, window.to, String(conversations), id],
      );
      return {
        ...list,
        period: window,
        quoted_conversations: quoted,
        total_conversations: totalConversations,
        is_complete: isComplete,
      };
    },
  };
}
