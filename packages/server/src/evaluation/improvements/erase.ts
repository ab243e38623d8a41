import { eraseHiddenConversations } from '../../engine/conversations/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { EraseConversations, EraseStep } from '../../platform/registration.ts';
import type { ImprovementRow, ImprovementScenarioRow } from '../tables.ts';
import { lockImprovements, removeResultsOf, removeScenariosFrom, updateImprovement } from './store.ts';

/** A scenario repeats what the user wanted, so it goes with the conversation. The change of the version stays. */
export const eraseImprovementsFrom: EraseConversations = async (tx, tenant, conversationIds) =>
  eraseScenarios(tx, await removeScenariosFrom(tx, tenant, { conversationIds }));

export const eraseImprovementsOf: EraseStep = async (tx, tenant, userId) =>
  eraseScenarios(tx, await removeScenariosFrom(tx, tenant, { userId }));

/** The ledger keeps the charges of erased conversations, so the cost of the improvement stays exact. */
async function eraseScenarios(tx: Transaction, removed: readonly ImprovementScenarioRow[]): Promise<void> {
  if (removed.length === 0) return;
  const sources = new Set(removed.map(({ source_id }) => source_id));
  const scenarios = new Set(removed.map(({ scenario_id }) => scenario_id));
  const ids = [...new Set(removed.map(({ improvement_id }) => improvement_id))];
  for (const row of await lockImprovements(tx, ids))
    await updateImprovement(tx, row.id, without(row, sources, scenarios));
  await eraseHiddenConversations(tx, await removeResultsOf(tx, [...scenarios]));
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
    cannot_fix: Object.fromEntries(Object.entries(attempt.cannot_fix).filter(([id]) => !scenarios.has(id))),
    results: attempt.results && {
      ...attempt.results,
      not_fixed: attempt.results.not_fixed.filter(({ scenario_id }) => !scenarios.has(scenario_id)),
    },
  })),
});
