import type { PricedModel } from '@vestra/models/prices';
import { type Engine, usableModel } from '../engine/api.ts';
import type { TestRunRow } from './tables.ts';

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
