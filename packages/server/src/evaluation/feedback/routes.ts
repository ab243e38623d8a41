import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import { findConversation } from '../../engine/conversations/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import {
  assertReach,
  countByVersion,
  listOfConversation,
  listOfDeployment,
  presentFeedback,
  rateMessage,
  raterOf,
} from './feedback.ts';

export function feedbackRoutes({ db }: { db: Database }): Handlers<'feedback'> {
  return {
    rate: async ({ caller, params, body }) => {
      const { rating, note = null } = body;
      const said = { messageId: params.message_id, rating, note };
      return transaction(db, (tx) => rateMessage(tx, caller, said));
    },
    ofConversation: async ({ caller, params, page }) => {
      const conversationId = params.conversation_id;
      assertReach(caller, conversationId);
      if (!(await findConversation(db, caller, conversationId))) throw fail('conversation_not_found');
      const rater = caller.session ? raterOf(caller) : null;
      const rows = await listOfConversation(db, caller, { conversationId, rater }, page);
      return page.of(rows, presentFeedback, ({ id }) => [id]);
    },
    list: async ({ caller, params, query, page }) => {
      const { id: deploymentId } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const { rating, version } = query;
      const rows = await listOfDeployment(db, caller, { deploymentId, rating, version }, page);
      return page.of(rows, presentFeedback, ({ id }) => [id]);
    },
    counts: async ({ caller, params }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      return { object: 'feedback_counts', data: await countByVersion(db, caller, id) };
    },
  };
}
