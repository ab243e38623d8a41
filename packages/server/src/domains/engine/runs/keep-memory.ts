import { ask, paidByOrg } from '../questions/ask.ts';
import { changeConversation } from '../records/change.ts';
import { dueForMemory, noteRemembered } from '../records/conversations.ts';
import { messagesToRemember } from '../records/messages.ts';
import type { ConversationRow } from '../records/tables.ts';
import { usableModel } from '../records/usable-model.ts';
import { manifestOf, memoryModeOf } from '../records/version-cache.ts';
import { ignoreErased } from '../turns/begin-task.ts';
import type { Engine } from '../turns/ports.ts';
import { spendingOf } from '../turns/spending.ts';

const pageSize = 20;
const atOnce = 4;
const patienceMs = 120_000;
const mostExchanges = 40;

/** Looks through conversations that have gone quiet for what is worth remembering, in the background. */
export async function keepMemories(engine: Engine, signal: AbortSignal): Promise<void> {
  for (;;) {
    const due = await dueForMemory(engine.db, pageSize);
    const waiting = [...due];
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        signal.throwIfAborted();
        await keepOf(engine, next, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (due.length < pageSize) return;
  }
}

async function keepOf(engine: Engine, conversation: ConversationRow, signal: AbortSignal): Promise<void> {
  const said = await messagesToRemember(engine.db, conversation, mostExchanges * 2);
  // Before the model is asked: facts that are lost to a crash cost less than facts that are asked and paid for twice.
  await markLooked(engine, conversation.id, said.at(-1)?.id ?? null);
  const mode = await modeOf(engine, conversation);
  if (mode === 'none' || said.length === 0 || conversation.is_hidden) return;
  await remember(engine, conversation, mode, exchangesOf(said), signal).catch((error: unknown) => {
    engine.log.warn({ err: error, conversation_id: conversation.id }, 'nothing could be remembered');
  });
}

async function markLooked(engine: Engine, conversationId: string, until: string | null): Promise<void> {
  await changeConversation(engine, conversationId, null, async ({ conversation, tx }) => {
    conversation.memory_due_at = null;
    if (until === null) return;
    await noteRemembered(tx, conversationId, until);
  }).catch(ignoreErased);
}

async function modeOf({ db }: Engine, { org_id, mode, deployment_id, deployment_version }: ConversationRow) {
  if (deployment_id === null || deployment_version === null) return 'none';
  return memoryModeOf(db, { orgId: org_id, mode }, await manifestOf(db, deployment_id, deployment_version));
}

type Said = { turn_id: string; role: string; text: string };

function exchangesOf(said: readonly Said[]): { user: string; agent: string }[] {
  const byTurn = new Map<string, { user: string; agent: string }>();
  for (const { turn_id, role, text } of said) {
    const exchange = byTurn.get(turn_id) ?? { user: '', agent: '' };
    byTurn.set(turn_id, role === 'user' ? { ...exchange, user: text } : { ...exchange, agent: text });
  }
  return [...byTurn.values()];
}

/** Behind others of every org: whoever waits here for long would hold them all up. */
const longestWaitMs = 10_000;

async function remember(
  engine: Engine,
  conversation: ConversationRow,
  mode: 'vestra' | 'customer',
  exchange: readonly { user: string; agent: string }[],
  signal: AbortSignal,
): Promise<void> {
  const { db, models, memory } = engine;
  const { org_id: orgId, user_id: userId, deployment_id, deployment_version } = conversation;
  const tenant = { orgId, mode: conversation.mode };
  const manifest = await manifestOf(db, deployment_id as string, deployment_version as number);
  const payer = paidByOrg(engine, {
    tenant,
    model: usableModel(models, tenant.mode, manifest.model),
    deploymentId: deployment_id,
    conversationId: conversation.id,
    spending: await spendingOf(db, tenant, userId),
    waitMs: longestWaitMs,
  });
  await memory.keepTurn(tenant, {
    userId,
    mode,
    exchange,
    ask: (question) => ask({ ...question, payer, signal }),
  });
}
