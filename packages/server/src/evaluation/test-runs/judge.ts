import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import type { Transcript } from '../../engine/conversations/index.ts';
import { type Engine, judgeLine, usableModel } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import type { PlayedScenario, TestRunRow } from './tables.ts';
import type { Findings } from './verdict.ts';

const sideBySide = 4;

/** Each line is judged by a call of its own. */
export async function judgeScenario(
  { ask, judgedBy }: { ask: Ask; judgedBy: string },
  { success_criteria, must_never }: Pick<PlayedScenario, 'success_criteria' | 'must_never'>,
  transcript: Transcript['witnessed'],
): Promise<Findings> {
  const lines = [
    ...success_criteria.map((text) => ({ kind: 'criterion' as const, text })),
    ...must_never.map((text) => ({ kind: 'must_never' as const, text })),
  ];
  const found = await mapLimited(sideBySide, lines, async (line) => {
    const { holds, reason } = await judgeLine(ask, { line, transcript });
    return { text: line.text, holds, reason };
  });
  const criteria = found.slice(0, success_criteria.length);
  return { criteria, mustNever: found.slice(success_criteria.length), judgedBy };
}

/**
 * Who plays the user and who judges: the server's own default, so that a version does not choose its judge; where the
 * mode has none, the version's model. Null where that is the offline stand-in and the run speaks of live traffic.
 */
export function judgeModelOf(
  { models }: Engine,
  { mode }: Pick<TestRunRow, 'mode'>,
  named: string,
): PricedModel | null {
  const { defaultModel } = models.catalogue;
  const fallback = models.catalogue.list(mode).find(({ id }) => id === defaultModel);
  const isStandIn = (id: string | null) => id === 'offline';
  const wanted = fallback?.available && !isStandIn(fallback.id) ? fallback.id : named;
  if (mode === 'live' && isStandIn(wanted === 'default' ? defaultModel : wanted)) return null;
  return usableModel(models, mode, wanted);
}
