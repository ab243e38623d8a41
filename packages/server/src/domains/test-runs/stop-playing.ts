import { changeConversation, type Engine, ignoreErased, stopAll } from '../engine/api.ts';
import type { TestRun } from './tables.ts';

/** Whoever plays a cancelled run hears of it, and what the agent is at in its conversations ends. */
export async function stopPlaying(engine: Engine, { id, status, results }: TestRun): Promise<void> {
  if (status !== 'cancelled') return;
  engine.announcer.ring('run', id);
  engine.announcer.ring('test_run', id);
  for (const { status: of, conversation_id: conversationId } of results) {
    if (of !== 'cancelled' || conversationId === null) continue;
    await changeConversation(engine, conversationId, null, (change) => stopAll(engine, change)).catch(ignoreErased);
  }
}
