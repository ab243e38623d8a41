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
import { announce, type CommittedChange, changeConversation, changeInTransaction } from '../records/change.ts';
import { dueForMemory, lockConversation, memoryModeOf, noteRemembered } from '../records/conversations.ts';
import { messagesToRemember } from '../records/messages.ts';
import { redactedAt } from '../records/redaction.ts';
import { modelStepsOf } from '../records/run-steps.ts';
import type { ConversationRow, MessageRow } from '../records/tables.ts';
import { turnsSince } from '../records/turns.ts';
import { type FileReading, textOfFile } from '../tools/conversation-files.ts';
import { spendingOf, usableModel } from '../turns/spending.ts';
import { ignoreErased } from '../turns/start-run.ts';
import type { Engine } from './ports.ts';

const pageSize = 20;
const atOnce = 4;
const extractionTimeoutMs = 120_000;
/** Read per pass. The next pass continues after them. */
const messagesPerPass = 24;
/** About a day and a half in total. */
const maxTries = 14;
const firstPauseMs = 60_000;
const maxPauseMs = 6 * 3600 * 1000;

/** Extracts memories from idle conversations, in the background. */
export async function extractMemories(engine: Engine, signal: AbortSignal): Promise<void> {
  for (;;) {
    const due = await dueForMemory(engine.db, pageSize);
    const waiting = [...due];
    let isMoreDue = due.length === pageSize;
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        signal.throwIfAborted();
        if (await extractFrom(engine, next, signal)) isMoreDue = true;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (!isMoreDue) return;
  }
}

/**
 * Extracts memories from the next messages of a conversation. Stores them and the new position in one transaction, so
 * that a failure loses no message. Returns whether more messages are due now.
 */
async function extractFrom(engine: Engine, conversation: ConversationRow, signal: AbortSignal): Promise<boolean> {
  // Read before the messages, so that a later deletion discards the memories found in them.
  const deletions = await engine.memory.standing(tenantOf(conversation), conversation.user_id);
  const redacted = await redactedAt(engine.db, conversation.id);
  const said = await messagesToRemember(engine.db, conversation, messagesPerPass);
  const until = said.at(-1)?.id ?? conversation.remembered_until;
  let committed: CommittedChange | null = null;
  try {
    const mode = await modeOf(engine.db, conversation);
    const looked = async (tx: Transaction) => {
      if ((await modeOf(tx, conversation)) !== mode) throw new DeletedMeanwhile('The memory mode was changed.');
      committed = await notePosition(tx, conversation, until);
      const now = await redactedAt(tx, conversation.id);
      if (now?.getTime() !== redacted?.getTime()) throw new DeletedMeanwhile('A task or a file was deleted.');
    };
    const recent = await messagesSince(engine.db, conversation, said, deletions.forgottenAt);
    const isWorthIt = mode !== 'none' && recent.length > 0 && !conversation.is_hidden;
    if (isWorthIt) {
      const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(extractionTimeoutMs)]);
      await storeMemories(engine, conversation, { mode, said: recent, deletions, looked }, timeLimit);
    } else await transaction(engine.db, looked);
  } catch (error) {
    if (error instanceof ExtractedMeanwhile) return false;
    // It is still due. The next pass leaves out messages from before the deletion.
    if (error instanceof DeletedMeanwhile) return true;
    signal.throwIfAborted();
    await tryLater(engine, conversation, error).catch(ignoreErased);
    return false;
  }
  return announceExtraction(engine, committed);
}

/** Messages of turns that began after the last deletion of memories. */
async function messagesSince(
  db: Database,
  { id }: ConversationRow,
  said: readonly MessageRow[],
  forgottenAt: Date | null,
): Promise<readonly MessageRow[]> {
  if (forgottenAt === null || said.length === 0) return said;
  const since = await turnsSince(db, id, forgottenAt);
  return said.filter(({ turn_id }) => since.has(turn_id));
}

/** `committed` is null if the user was erased before anything was stored. */
function announceExtraction({ announcer }: Engine, committed: CommittedChange | null): boolean {
  if (committed === null) return false;
  announce(announcer, committed);
  return committed.conversation.memory_due_at !== null;
}

/** Another process was faster, or the conversation was erased. These memories must not be stored too. */
class ExtractedMeanwhile extends Error {}

async function notePosition(tx: Transaction, seen: ConversationRow, until: string | null): Promise<CommittedChange> {
  const row = await lockConversation(tx, seen.id);
  if (!row || row.remembered_until !== seen.remembered_until) throw new ExtractedMeanwhile();
  const { committed } = await changeInTransaction(tx, row, async (change) => {
    await noteRemembered(tx, row.id, { until, tries: 0 });
    // Checked under the lock: a turn that settles later makes the conversation due again.
    const [more] = await messagesToRemember(tx, { id: row.id, remembered_until: until }, 1);
    if (!more) change.conversation.memory_due_at = null;
  });
  return committed;
}

/**
 * An unreachable model or an empty wallet is temporary. After the last try the conversation is due again only after its
 * next message, and extraction resumes where it stopped.
 */
async function tryLater(engine: Engine, seen: ConversationRow, error: unknown): Promise<void> {
  await changeConversation(engine, seen.id, null, async ({ conversation, tx }) => {
    if (conversation.remembered_until !== seen.remembered_until) return;
    const tries = conversation.memory_tries + 1;
    const isLast = tries >= maxTries;
    const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs);
    await noteRemembered(tx, seen.id, { until: conversation.remembered_until, tries: isLast ? 0 : tries });
    conversation.memory_due_at = isLast ? null : new Date(sharedNow() + pauseMs);
    const about = { err: error, conversation_id: seen.id, tries, again_in_ms: isLast ? null : pauseMs };
    engine.log.warn(about, 'memories could not be extracted from a conversation');
  }).catch(ignoreErased);
}

const tenantOf = ({ org_id, mode }: ConversationRow) => ({ orgId: org_id, mode });

async function modeOf(db: Executor, { org_id, mode, deployment_id, deployment_version }: ConversationRow) {
  if (deployment_id === null || deployment_version === null) return 'none';
  return memoryModeOf(db, { orgId: org_id, mode }, await manifestOf(db, deployment_id, deployment_version));
}

/** All orgs share this queue, so a long wait for money would delay the others. */
const maxWaitMs = 10_000;

async function storeMemories(
  engine: Engine,
  conversation: ConversationRow,
  of: {
    mode: 'vestra' | 'customer';
    said: readonly MessageRow[];
    deletions: Awaited<ReturnType<Engine['memory']['standing']>>;
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
    waitMs: maxWaitMs,
  });
  const recorded = await recordedOf(db, of.said);
  const lines = linesOf(of.said, recorded);
  const passages = await passagesOf(engine, tenant, of.said, recorded);
  const { forgottenAt } = of.deletions;
  const reachesBack = forgottenAt !== null && conversation.created_at <= forgottenAt;
  await memory.keepTurn(tenant, {
    userId,
    mode: of.mode,
    standing: of.deletions,
    // The agent still sees older messages and files, and its words may repeat deleted facts.
    lines: reachesBack ? lines.filter(({ by }) => by === 'user') : lines,
    passages: reachesBack ? passages.filter(({ name }) => name !== 'read_conversation_file') : passages,
    ask: (question) => ask({ ...question, payer, signal }),
    looked: of.looked,
  });
}

type MemoryLine = Parameters<Memory['keepTurn']>[1]['lines'][number];
type MemoryPassage = Parameters<Memory['keepTurn']>[1]['passages'][number];

/** Steps by the id of their turn or task. */
type RecordedSteps = ReadonlyMap<string, readonly ModelStep[]>;

/** Enough to know the subject of a tool's answer or a file. */
const maxPassages = 24;

async function recordedOf(db: Executor, said: readonly MessageRow[]): Promise<RecordedSteps> {
  const runs = said.flatMap((message) => runOf(message) ?? []);
  return runs.length === 0 ? new Map() : modelStepsOf(db, runs);
}

/** Counts each run once: a reply with the user's message, a task with its result. */
const runOf = ({ role, turn_id, task_id }: MessageRow) =>
  role === 'user' ? turn_id : role === 'work' ? task_id : null;

/** The messages, with the questions that the person was asked in between and their answers. */
export function linesOf(said: readonly MessageRow[], recorded: RecordedSteps): MemoryLine[] {
  return said.flatMap((message) => {
    const spoken: MemoryLine = { by: message.role === 'user' ? 'user' : 'agent', text: message.text };
    const answers = callsOf(message, recorded).flatMap(answeredLines);
    return message.role === 'user' ? [spoken, ...answers] : [...answers, spoken];
  });
}

/** Content of tool answers, web pages and files. */
export async function passagesOf(
  engine: FileReading,
  tenant: Tenant,
  said: readonly MessageRow[],
  recorded: RecordedSteps,
): Promise<MemoryPassage[]> {
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
  const uploads: MemoryPassage[] = [];
  for (const { file_id, filename } of attached.slice(0, maxPassages)) {
    const row = rows.get(file_id);
    const text = row && (await textOfFile(engine, row, filename));
    if (text) uploads.push({ source: 'upload', name: filename, text });
  }
  const shown = said.flatMap((message) => callsOf(message, recorded)).flatMap((each) => passageOf(each) ?? []);
  return [...uploads, ...shown].slice(0, maxPassages);
}

function callsOf(message: MessageRow, recorded: RecordedSteps): readonly RecordedCall[] {
  const run = runOf(message);
  return run === null ? [] : (recorded.get(run) ?? []).flatMap(({ calls }) => calls);
}

/** The answer to several questions repeats them, so it counts as the agent's text. */
function answeredLines({ call, result }: RecordedCall): MemoryLine[] {
  if (call.name !== 'ask_question' || result?.from !== 'person' || result.isError) return [];
  const { question, also } = call.arguments as { question?: unknown; also?: unknown };
  if (typeof question !== 'string' || (Array.isArray(also) && also.length > 0))
    return [{ by: 'agent', text: `Asked, and was answered:\n${result.output}` }];
  return [
    { by: 'agent', text: question },
    { by: 'user', text: result.output },
  ];
}

/** The agent's tools that bring in new content. */
const agentToolSources: Partial<Record<string, MemoryPassage['source']>> = {
  read_conversation_file: 'upload',
  run_command: 'tool_observed',
  read_file: 'tool_observed',
  browser_open: 'screen',
  browser_read: 'screen',
  browser_click: 'screen',
  browser_type: 'screen',
  browser_scroll: 'screen',
};

function passageOf({ call, result }: RecordedCall): MemoryPassage | null {
  if (result?.from !== 'tool' || result.isError || result.output.trim() === '') return null;
  const source = reservedToolNames.has(call.name) ? agentToolSources[call.name] : 'tool_observed';
  return source === undefined ? null : { source, name: call.name, text: result.output };
}
