import type { ModelStep, RecordedCall } from '@vestra/agent/step';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { manifestOf } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { DeletedMeanwhile, type Memory } from '../../users/index.ts';
import { findFiles } from '../files/store.ts';
import { ask, paidByOrg } from '../questions/model-questions.ts';
import { announce, type Committed, changeConversation, changing } from '../records/change.ts';
import { dueForMemory, lockConversation, noteRemembered } from '../records/conversations.ts';
import { memoryModeOf } from '../records/memory-mode.ts';
import { messagesToRemember } from '../records/messages.ts';
import type { ConversationRow, MessageRow } from '../records/tables.ts';
import { modelStepsOf } from '../records/trace-store.ts';
import { turnsSince } from '../records/turns.ts';
import { usableModel } from '../records/usable-model.ts';
import { type ReadsFiles, textOfFile } from '../tools/conversation-files.ts';
import { ignoreErased } from '../turns/begin-task.ts';
import { spendingOf } from '../turns/spending.ts';
import type { Engine } from './ports.ts';

const pageSize = 20;
const atOnce = 4;
const patienceMs = 120_000;
/** What one look reads; the next reads on. */
const messagesAtOnce = 24;
/** About a day and a half in all. */
const mostTries = 14;
const firstPauseMs = 60_000;
const longestPauseMs = 6 * 3600 * 1000;

/** Looks through conversations that have gone quiet for what is worth remembering, in the background. */
export async function keepMemories(engine: Engine, signal: AbortSignal): Promise<void> {
  for (;;) {
    const due = await dueForMemory(engine.db, pageSize);
    const waiting = [...due];
    let isMoreDue = due.length === pageSize;
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        signal.throwIfAborted();
        if (await lookThrough(engine, next, signal)) isMoreDue = true;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (!isMoreDue) return;
  }
}

/**
 * It counts as looked through once the model has answered and what it found is kept: both or neither. Whether there is
 * more of it to look through at once.
 */
async function lookThrough(engine: Engine, conversation: ConversationRow, signal: AbortSignal): Promise<boolean> {
  // Before the messages are read: a deletion from here on takes back what is found in them.
  const standing = await engine.memory.standing(tenantOf(conversation), conversation.user_id);
  const said = await messagesToRemember(engine.db, conversation, messagesAtOnce);
  const until = said.at(-1)?.id ?? conversation.remembered_until;
  let committed: Committed | null = null;
  try {
    const mode = await modeOf(engine.db, conversation);
    const looked = async (tx: Transaction) => {
      if ((await modeOf(tx, conversation)) !== mode) throw new DeletedMeanwhile('The memory mode was changed.');
      committed = await noteLooked(tx, conversation, until);
    };
    const heard = await saidSince(engine.db, conversation, said, standing.forgottenAt);
    const isWorthIt = mode !== 'none' && heard.length > 0 && !conversation.is_hidden;
    if (isWorthIt) {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      await remember(engine, conversation, { mode, said: heard, standing, looked }, patience);
    } else await transaction(engine.db, looked);
  } catch (error) {
    if (error instanceof LookedThroughMeanwhile) return false;
    // Due as before, and without what was said until then.
    if (error instanceof DeletedMeanwhile) return true;
    signal.throwIfAborted();
    await tryLater(engine, conversation, error).catch(ignoreErased);
    return false;
  }
  return concludeLook(engine, committed);
}

/** The messages of turns that began after the last deletion of memories. */
async function saidSince(
  db: Database,
  { id }: ConversationRow,
  said: readonly MessageRow[],
  forgottenAt: Date | null,
): Promise<readonly MessageRow[]> {
  if (forgottenAt === null || said.length === 0) return said;
  const since = await turnsSince(db, id, forgottenAt);
  return said.filter(({ turn_id }) => since.has(turn_id));
}

/** Null: the user was erased before anything could be kept. */
function concludeLook({ announcer }: Engine, committed: Committed | null): boolean {
  if (committed === null) return false;
  announce(announcer, committed);
  return committed.conversation.memory_due_at !== null;
}

/** By another process, or the conversation was erased: what was found here must not be kept as well. */
class LookedThroughMeanwhile extends Error {}

async function noteLooked(tx: Transaction, seen: ConversationRow, until: string | null): Promise<Committed> {
  const row = await lockConversation(tx, seen.id);
  if (!row || row.remembered_until !== seen.remembered_until) throw new LookedThroughMeanwhile();
  const { committed } = await changing(tx, row, async (change) => {
    await noteRemembered(tx, row.id, { until, tries: 0 });
    // Under the lock: whatever is settled from now on makes it due again.
    const [more] = await messagesToRemember(tx, { id: row.id, remembered_until: until }, 1);
    if (!more) change.conversation.memory_due_at = null;
  });
  return committed;
}

/**
 * A model that is away or money that is short passes. After the last try it rests until the conversation goes on, and is
 * then read from where it was left.
 */
async function tryLater(engine: Engine, seen: ConversationRow, error: unknown): Promise<void> {
  await changeConversation(engine, seen.id, null, async ({ conversation, tx }) => {
    if (conversation.remembered_until !== seen.remembered_until) return;
    const tries = conversation.memory_tries + 1;
    const isLast = tries >= mostTries;
    const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs);
    await noteRemembered(tx, seen.id, { until: conversation.remembered_until, tries: isLast ? 0 : tries });
    conversation.memory_due_at = isLast ? null : new Date(sharedNow() + pauseMs);
    const about = { err: error, conversation_id: seen.id, tries, again_in_ms: isLast ? null : pauseMs };
    engine.log.warn(about, 'a conversation could not be looked through for what is worth remembering');
  });
}

const tenantOf = ({ org_id, mode }: ConversationRow) => ({ orgId: org_id, mode });

async function modeOf(db: Executor, { org_id, mode, deployment_id, deployment_version }: ConversationRow) {
  if (deployment_id === null || deployment_version === null) return 'none';
  return memoryModeOf(db, { orgId: org_id, mode }, await manifestOf(db, deployment_id, deployment_version));
}

/** Behind others of every org: whoever waits here for long would hold them all up. */
const longestWaitMs = 10_000;

async function remember(
  engine: Engine,
  conversation: ConversationRow,
  of: {
    mode: 'vestra' | 'customer';
    said: readonly MessageRow[];
    standing: Awaited<ReturnType<Engine['memory']['standing']>>;
    looked: (tx: Transaction) => Promise<void>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { db, models, memory } = engine;
  const { user_id: userId, deployment_id, deployment_version } = conversation;
  const tenant = tenantOf(conversation);
  const manifest = await manifestOf(db, deployment_id as string, deployment_version as number);
  const payer = paidByOrg(engine, {
    tenant,
    model: usableModel(models, tenant.mode, manifest.model),
    deploymentId: deployment_id,
    conversationId: conversation.id,
    spending: await spendingOf(db, tenant, userId),
    waitMs: longestWaitMs,
  });
  const recorded = await recordedOf(db, of.said);
  const lines = linesOf(of.said, recorded);
  const passages = await passagesOf(engine, tenant, of.said, recorded);
  const { forgottenAt } = of.standing;
  const reachesBack = forgottenAt !== null && conversation.created_at <= forgottenAt;
  await memory.keepTurn(tenant, {
    userId,
    mode: of.mode,
    standing: of.standing,
    // The agent still reads what was said before the deletion, and its words and the files of then may repeat it.
    lines: reachesBack ? lines.filter(({ by }) => by === 'user') : lines,
    passages: reachesBack ? passages.filter(({ name }) => name !== 'read_conversation_file') : passages,
    ask: (question) => ask({ ...question, payer, signal }),
    looked: of.looked,
  });
}

type Line = Parameters<Memory['keepTurn']>[1]['lines'][number];
type Passage = Parameters<Memory['keepTurn']>[1]['passages'][number];

/** What was done for the messages, by the id of the turn or of its work. */
type Recorded = ReadonlyMap<string, readonly ModelStep[]>;

/** Enough to know what a tool or a file was about; whoever needs the rest looks again. */
const mostPassages = 24;

async function recordedOf(db: Executor, said: readonly MessageRow[]): Promise<Recorded> {
  const runs = said.flatMap((message) => runOf(message) ?? []);
  return runs.length === 0 ? new Map() : modelStepsOf(db, runs);
}

/** Each run once: a reply belongs to what was asked, work to its result. */
const runOf = ({ role, turn_id, task_id }: MessageRow) =>
  role === 'user' ? turn_id : role === 'work' ? task_id : null;

/** What was said, with what the person was asked in between and answered. */
export function linesOf(said: readonly MessageRow[], recorded: Recorded): Line[] {
  return said.flatMap((message) => {
    const spoken: Line = { by: message.role === 'user' ? 'user' : 'agent', text: message.text };
    const answers = callsOf(message, recorded).flatMap(answeredLines);
    return message.role === 'user' ? [spoken, ...answers] : [...answers, spoken];
  });
}

/** What tools answered, pages showed and files held. */
export async function passagesOf(
  engine: ReadsFiles,
  tenant: Tenant,
  said: readonly MessageRow[],
  recorded: Recorded,
): Promise<Passage[]> {
  const attached = said.flatMap(({ attachments }) => attachments);
  const rows = new Map(
    (
      await findFiles(
        engine.db,
        tenant,
        attached.map(({ file_id }) => file_id),
      )
    ).map((row) => [row.id, row]),
  );
  const uploads: Passage[] = [];
  for (const { file_id, filename } of attached.slice(0, mostPassages)) {
    const row = rows.get(file_id);
    const text = row && (await textOfFile(engine, row, filename));
    if (text) uploads.push({ source: 'upload', name: filename, text });
  }
  const shown = said.flatMap((message) => callsOf(message, recorded)).flatMap((each) => shownBy(each) ?? []);
  return [...uploads, ...shown].slice(0, mostPassages);
}

function callsOf(message: MessageRow, recorded: Recorded): readonly RecordedCall[] {
  const run = runOf(message);
  return run === null ? [] : (recorded.get(run) ?? []).flatMap(({ calls }) => calls);
}

/** Of several questions asked at once the answer repeats the agent's words: what stands in it is not the person's alone. */
function answeredLines({ call, result }: RecordedCall): Line[] {
  if (call.name !== 'ask_question' || result?.from !== 'person' || result.isError) return [];
  const { question, also } = call.arguments as { question?: unknown; also?: unknown };
  if (typeof question !== 'string' || (Array.isArray(also) && also.length > 0))
    return [{ by: 'agent', text: `Asked, and was answered:\n${result.output}` }];
  return [
    { by: 'agent', text: question },
    { by: 'user', text: result.output },
  ];
}

/** Of the agent's own tools only these bring in what was not known here. */
const ownSources: Partial<Record<string, Passage['source']>> = {
  read_conversation_file: 'upload',
  run_command: 'tool_observed',
  read_file: 'tool_observed',
  browser_open: 'screen',
  browser_read: 'screen',
  browser_click: 'screen',
  browser_type: 'screen',
  browser_scroll: 'screen',
};

function shownBy({ call, result }: RecordedCall): Passage | null {
  if (result?.from !== 'tool' || result.isError || result.output.trim() === '') return null;
  const source = reservedToolNames.has(call.name) ? ownSources[call.name] : 'tool_observed';
  return source === undefined ? null : { source, name: call.name, text: result.output };
}
