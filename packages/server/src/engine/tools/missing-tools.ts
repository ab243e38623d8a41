import { isDeepStrictEqual } from 'node:util';
import type { AwayReason, MissingTool } from '@vestra/contract/missing-tools';
import { beginOutage, type UnavailableServer } from '../../agents/tool-servers/index.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { changeConversation } from '../records/change.ts';
import type { Subject } from '../records/subject.ts';
import { updateTask } from '../records/tasks.ts';
import { tellAway } from '../records/tell.ts';
import { updateTurn } from '../records/turns.ts';
import type { ToolParts } from './ports.ts';

/**
 * Stores with the run which servers' tools it lacks, and publishes each outage that was not published yet. A test
 * publishes nothing, so that the event names the first real user who meets the outage.
 */
export async function recordMissingTools(
  engine: ToolParts,
  { turn, task }: Subject,
  run: Run,
  missing: readonly UnavailableServer[],
): Promise<void> {
  const shown: MissingTool[] = missing.map(({ slug, reason, message }) => ({ server: slug, reason, message }));
  // A fixed order prevents a deadlock between two conversations that find the same servers unreachable.
  const ordered = missing.toSorted((one, other) => (one.serverId < other.serverId ? -1 : 1));
  await changeConversation(engine, turn.conversation_id, run, async (change) => {
    if (!isDeepStrictEqual((task ?? turn).missing_tools, shown)) {
      if (task) await updateTask(change.tx, task, { missing_tools: shown });
      else await updateTurn(change.tx, turn.id, { missing_tools: shown });
    }
    if (change.conversation.is_hidden) return;
    const whose = { orgId: turn.org_id, mode: turn.mode, userId: turn.user_id };
    for (const each of ordered) {
      // This is no outage: it stays so with every message until somebody changes the configuration.
      if (each.reason === 'too_many_tools') continue;
      if (await beginOutage(change.tx, whose, each)) tellAway(change, { turn, task }, each);
    }
  });
}

/** The line for the model. It may repeat it to the person, so it has no address and no name of a secret. */
export const describeMissingServer = ({ slug, reason }: UnavailableServer) => `\`${slug}\`: ${reasonTexts[reason]}`;

const reasonTexts: Record<AwayReason, string> = {
  unreachable: 'it cannot be reached just now.',
  credentials_refused: 'it does not take the credentials that it is called with.',
  secret_missing: 'the company has not finished setting it up.',
  user_secret_missing: 'it needs a credential of the person’s own, which has not been stored for them.',
  secret_unusable: 'a credential that is stored for it cannot be used.',
  sign_in_over: 'the person’s sign-in to it is over; they must connect it again.',
  removed: 'the company has removed it.',
  too_many_tools: 'you have only some of its tools, since there are more than you can be given at once.',
};
