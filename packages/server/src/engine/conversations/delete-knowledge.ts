import { setTimeout as sleep } from 'node:timers/promises';
import { changeConversation } from '../records/change.ts';
import {
  callsThatRead,
  callsUnderWay,
  type DeletedKnowledge,
  emptyKnowledgeCalls,
  isAnyUnderWay,
} from '../records/knowledge-calls.ts';
import type { Engine } from '../runs/ports.ts';
import { ignoreErased } from '../turns/start-run.ts';

const callsAtOnce = 500;
const looks = 60;

/**
 * Job `knowledge.empty`: removes what agents read in a deleted document, notebook or skill from traces and later prompts.
 * Each conversation has its own transaction, so that an org with many of them is not blocked.
 */
export async function emptyKnowledge(engine: Engine, deleted: DeletedKnowledge, signal: AbortSignal): Promise<void> {
  const underWay = await callsUnderWay(engine.db, deleted);
  await emptyAll(engine, deleted, signal);
  if (underWay.length === 0) return;
  // These began before the deletion was seen. Their results may still come.
  for (let look = 0; await isAnyUnderWay(engine.db, underWay); look++) {
    if (look === looks) throw new Error('Calls that may have read deleted content are still running.');
    await sleep(1000, undefined, { signal });
  }
  await emptyAll(engine, deleted, signal);
}

async function emptyAll(engine: Engine, deleted: DeletedKnowledge, signal: AbortSignal): Promise<void> {
  for (let after = ''; ; ) {
    const calls = await callsThatRead(engine.db, deleted, { after, limit: callsAtOnce });
    for (const [id, ofConversation] of Map.groupBy(calls, ({ conversation_id }) => conversation_id)) {
      signal.throwIfAborted();
      const callIds = ofConversation.map((call) => call.id);
      await changeConversation(engine, id, null, (change) => emptyKnowledgeCalls(change, callIds)).catch(ignoreErased);
    }
    if (calls.length < callsAtOnce) return;
    after = calls.at(-1)?.id as string;
  }
}
