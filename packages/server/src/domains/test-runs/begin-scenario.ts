import { fail } from '@vestra/contract/errors';
import { transaction } from '../../db/transaction.ts';
import { openConversation } from '../conversations/api.ts';
import { findDeployment } from '../deployments/api.ts';
import { acceptMessage, admit, announce, changing, lockOwnConversation, type TurnRow } from '../engine/api.ts';
import { holdPlay } from './hold-play.ts';
import type { Player, Playing } from './ports.ts';
import { updateResult } from './store.ts';
import type { PlayedScenario, ResultRow } from './tables.ts';

/**
 * Opens the conversation of a scenario and says its first line, which is the goal in the user's own words. Nobody is
 * named as its user: the play has no memory, files or routines of anyone, and its cost is the org's own.
 */
export async function beginScenario(
  { engine }: Player,
  { row, run }: Playing,
  result: ResultRow,
  startedAt: Date,
): Promise<string> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  const { conversation, committed } = await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const found = await findDeployment(tx, row.org_id, row.deployment_id);
    if (!found) throw fail('deployment_not_found');
    const { deployment } = found;
    const place = { tenant, userId: null, deployment, pinned: row.version, metadata: {}, isHidden: true };
    const opened = await openConversation(tx, place, async (change) => {
      const admission = await admit(engine, tx, change.conversation, deployment);
      return acceptMessage(engine, change, admission, messageOf(result.scenario, result.scenario.goal));
    });
    await updateResult(tx, result, {
      status: 'running',
      conversation_id: opened.conversation.id,
      started_at: startedAt,
    });
    return opened;
  });
  announce(engine.announcer, committed);
  engine.announcer.ring('test_run', row.id);
  return conversation.id;
}

/** Says a further line, unless the run has ended meanwhile. */
export async function sayLine(
  { engine }: Player,
  { row, run }: Playing,
  { scenario, conversationId, line }: { scenario: PlayedScenario; conversationId: string; line: string },
): Promise<TurnRow> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  const { result, committed } = await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const conversation = await lockOwnConversation(tx, tenant, conversationId);
    const found = await findDeployment(tx, row.org_id, row.deployment_id);
    if (!found) throw fail('deployment_not_found');
    return changing(tx, conversation, async (change) => {
      const admission = await admit(engine, tx, change.conversation, found.deployment);
      return acceptMessage(engine, change, admission, messageOf(scenario, line));
    });
  });
  announce(engine.announcer, committed);
  return result;
}

const messageOf = ({ tool_results }: PlayedScenario, text: string) => ({
  text,
  context: null,
  attachments: [],
  request: { hand_off: 'auto' as const, plan: false, test: { tool_results: tool_results ?? {} } },
  origin: 'test' as const,
});
