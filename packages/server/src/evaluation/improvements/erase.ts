import { stopAndEraseHidden } from '../../engine/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { EraseConversations, EraseStep } from '../../platform/registration.ts';
import type { Player } from '../player/player.ts';
import type { ImprovementRow, ImprovementScenarioRow } from '../tables.ts';
import { withoutReasons } from './results.ts';
import { lockImprovements, removeResultsOf, removeScenariosFrom, updateImprovement } from './store.ts';

/** A scenario repeats what the user wanted, so it goes with the conversation. The change of the version stays. */
export const eraseImprovementsFrom =
  (player: Player): EraseConversations =>
  async (tx, tenant, conversationIds, afterwards) =>
    eraseScenarios(player, tx, await removeScenariosFrom(tx, tenant, { conversationIds }), afterwards);

export const eraseImprovementsOf =
  (player: Player): EraseStep =>
  async (tx, tenant, userId, afterwards) =>
    eraseScenarios(player, tx, await removeScenariosFrom(tx, tenant, { userId }), afterwards);

/** The ledger keeps the charges of erased conversations, so the cost of the improvement stays exact. */
async function eraseScenarios(
  player: Player,
  tx: Transaction,
  removed: readonly ImprovementScenarioRow[],
  afterwards: Parameters<EraseStep>[3],
): Promise<void> {
  if (removed.length === 0) return;
  const sources = new Set(removed.map(({ source_id }) => source_id));
  const scenarios = new Set(removed.map(({ scenario_id }) => scenario_id));
  const ids = [...new Set(removed.map(({ improvement_id }) => improvement_id))];
  for (const row of await lockImprovements(tx, ids))
    await updateImprovement(tx, row.id, without(row, sources, scenarios));
  await stopAndEraseHidden(player, tx, await removeResultsOf(tx, [...scenarios]), afterwards);
}

/**
 * The row without what names or quotes the conversations. The ids of fixed scenarios stay, so that a proven version
 * remains one.
 */
const without = (
  { source, flags, attempts }: ImprovementRow,
  sources: ReadonlySet<string>,
  scenarios: ReadonlySet<string>,
): Pick<ImprovementRow, 'source' | 'flags' | 'attempts'> => ({
  source:
    source.type === 'conversations'
      ? { ...source, conversation_ids: source.conversation_ids.filter((id) => !sources.has(id)) }
      : source,
  flags: flags.filter(({ conversation_id }) => conversation_id === null || !sources.has(conversation_id)),
  attempts: attempts.map((attempt) => ({
    ...attempt,
    change: withoutReasons(attempt.change, 'The reason was deleted with a conversation that it may quote.'),
    cannot_fix: Object.fromEntries(Object.entries(attempt.cannot_fix).filter(([id]) => !scenarios.has(id))),
    results: attempt.results && {
      ...attempt.results,
      not_fixed: attempt.results.not_fixed.filter(({ scenario_id }) => !scenarios.has(scenario_id)),
    },
  })),
});
