import { eraseHiddenConversations } from '../../engine/conversations/index.ts';
import type { EraseStep } from '../../platform/registration.ts';
import { removeTalksOf } from './store.ts';

/** Replayed talks hold what the person said, in conversations that are nobody's. To be called once the real ones are gone. */
export const eraseReplaysOf: EraseStep = async (tx, tenant, userId) => {
  const talks = await removeTalksOf(tx, tenant, userId);
  await eraseHiddenConversations(
    tx,
    talks.flatMap(({ conversation_id }) => conversation_id ?? []),
  );
};
