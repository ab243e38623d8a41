import { errorCatalogue, fail } from '@vestra/contract/errors';
import type { Followers } from '../../account/index.ts';
import { findDeployment } from '../../agents/deployments/index.ts';
import {
  findTurn,
  isTurnOver,
  latestTurn,
  lockOwnConversation,
  openConversation,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import {
  acceptMessage,
  admit,
  announce,
  type Change,
  changeConversation,
  changeInTransaction,
  type Engine,
  type NewMessage,
} from '../../engine/index.ts';
import {
  findInteraction,
  type InteractionResolution,
  type InteractionRow,
  pendingInteractions,
  resolveInteraction,
} from '../../engine/interactions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { budgetLeft, lockImprovement, noteConversation } from '../improvements/spending.ts';
import type { PlayedScenario, ReplayRow, TestRunRow } from '../tables.ts';
import type { Play, Player, PlayFault } from './player.ts';

/** Plays a version without a user: its conversations are hidden, its tools do nothing, and the org pays. */
export type Sandbox = {
  engine: Engine;
  tenant: Tenant;
  deploymentId: string;
  version: number;
  /** Called in every transaction before it writes. Throws if the play has ended or continues in another process. */
  hold: (tx: Transaction) => Promise<unknown>;
  /** The improvement that pays, whose budget limits every turn. Null: the play has no budget. */
  improvementId: string | null;
};

export const sandboxOf = ({ engine }: Player, { row, hold }: Play<TestRunRow | ReplayRow>): Sandbox => ({
  engine,
  tenant: { orgId: row.org_id, mode: row.mode },
  deploymentId: row.deployment_id,
  version: row.version,
  hold: (tx) => hold(tx, 'share'),
  improvementId: row.improvement_id,
});

/** `request.test` holds the tool results that replace real ones. */
type SandboxMessage = Pick<NewMessage, 'text' | 'context' | 'request'>;

/**
 * Opens a conversation with its first message. It has no user, so it sees no memory, files or routines, and the org
 * pays. `note` stores the conversation id in the same transaction.
 */
export async function openInSandbox(
  sandbox: Sandbox,
  message: SandboxMessage,
  note: (tx: Transaction, conversationId: string) => Promise<void>,
): Promise<string> {
  const { engine, tenant } = sandbox;
  const { conversation, committed } = await transaction(engine.db, async (tx) => {
    await lockBudget(tx, sandbox);
    await sandbox.hold(tx);
    const deployment = await deploymentOf(tx, sandbox);
    const place = { tenant, userId: null, deployment, pinned: sandbox.version, metadata: {}, isHidden: true };
    const say = async (change: Change) => {
      const admission = await admit(engine, tx, change.conversation, deployment);
      return acceptMessage(engine, change, admission, asTest(await withBudget(tx, sandbox, message)));
    };
    const opened = await openConversation(tx, place, say, engine.jobs);
    if (sandbox.improvementId !== null) await noteConversation(tx, sandbox.improvementId, opened.conversation.id);
    await note(tx, opened.conversation.id);
    return opened;
  });
  announce(engine.announcer, committed);
  return conversation.id;
}

/** Sends another message, unless the play has ended. */
async function sendInSandbox(sandbox: Sandbox, conversationId: string, message: SandboxMessage): Promise<TurnRow> {
  const { engine, tenant } = sandbox;
  const { result, committed } = await transaction(engine.db, async (tx) => {
    await lockBudget(tx, sandbox);
    await sandbox.hold(tx);
    const conversation = await lockOwnConversation(tx, tenant, conversationId);
    const deployment = await deploymentOf(tx, sandbox);
    const say = async (change: Change) => {
      const admission = await admit(engine, tx, change.conversation, deployment);
      return acceptMessage(engine, change, admission, asTest(await withBudget(tx, sandbox, message)));
    };
    return changeInTransaction(tx, conversation, say, engine.jobs);
  });
  announce(engine.announcer, committed);
  return result;
}

/** Before the play, because a cancellation locks the improvement first as well. */
async function lockBudget(tx: Transaction, { improvementId }: Sandbox): Promise<void> {
  if (improvementId !== null) await lockImprovement(tx, improvementId);
}

/** An improvement plays one conversation at a time, so nothing else spends its budget meanwhile. */
async function withBudget(
  tx: Transaction,
  { improvementId }: Sandbox,
  { request, ...message }: SandboxMessage,
): Promise<SandboxMessage> {
  if (improvementId === null || !request.test) return { ...message, request };
  const max_micros = Number(await budgetLeft(tx, improvementId));
  return { ...message, request: { ...request, test: { ...request.test, max_micros } } };
}

const asTest = (message: SandboxMessage): NewMessage => ({ ...message, attachments: [], origin: 'test' });

async function deploymentOf(tx: Transaction, { tenant, deploymentId }: Sandbox) {
  const found = await findDeployment(tx, tenant.orgId, deploymentId);
  if (!found) throw fail('deployment_not_found');
  return found.deployment;
}

type Script = {
  conversationId: string;
  answer: (wait: InteractionRow) => Promise<InteractionResolution> | InteractionResolution;
  /** Called after each turn, also after one that failed. */
  onTurnOver?: () => Promise<void>;
  /** The next message of the user; null if there is none. */
  nextMessage: (turn: TurnRow) => Promise<SandboxMessage | null>;
};

/**
 * Plays a conversation until the user has nothing more to say. It depends only on the rows of the conversation, so another
 * process can continue it after a crash. Returns what broke it, or null.
 */
export async function playConversation(
  sandbox: Sandbox,
  followers: Player['followers'],
  { conversationId, answer, onTurnOver, nextMessage }: Script,
  signal: AbortSignal,
): Promise<PlayFault | null> {
  const follower = followers.follow(conversationId, 0);
  signal.addEventListener('abort', follower.close, { once: true });
  try {
    let turn = await latestTurn(sandbox.engine.db, conversationId);
    while (turn) {
      turn = await untilTurnIsOver(sandbox, { conversationId, turnId: turn.id }, { follower, answer }, signal);
      await onTurnOver?.();
      if (isBudgetReached(turn)) throw fail('budget_reached');
      const fault = faultOfTurn(turn);
      if (fault) return fault;
      const message = await nextMessage(turn);
      if (message === null) return null;
      turn = await sendInSandbox(sandbox, conversationId, message);
    }
    throw fail('conversation_not_found');
  } finally {
    follower.close();
  }
}

/** A limit of the version has the same code and another message. */
const isBudgetReached = ({ request, error_code, error_message }: TurnRow) =>
  request.test?.max_micros !== undefined &&
  error_code === 'max_budget' &&
  error_message === errorCatalogue.budget_reached.message;

/** Limits of the version are behaviour of the agent, and are judged. Lack of money or a failed model is not. */
function faultOfTurn({ state, error_code, error_message }: TurnRow): PlayFault | null {
  if (state === 'settled') return null;
  if (state === 'failed') return { code: error_code ?? 'model_error', message: error_message };
  if (error_code === 'max_turns' || error_code === 'hook_blocked') return null;
  return { code: error_code ?? 'stopped', message: error_message };
}

/** Upper bound for the delay after a lost notification. */
const lookAgainMs = 15_000;

type Follower = ReturnType<Followers['follow']>;

/** Answers all interactions of a turn until the turn is over. */
async function untilTurnIsOver(
  { engine }: Pick<Sandbox, 'engine'>,
  { conversationId, turnId }: { conversationId: string; turnId: string },
  {
    follower,
    answer,
  }: { follower: Follower; answer: (wait: InteractionRow) => Promise<InteractionResolution> | InteractionResolution },
  signal: AbortSignal,
): Promise<TurnRow> {
  for (;;) {
    signal.throwIfAborted();
    const turn = await findTurn(engine.db, turnId);
    if (!turn) throw fail('conversation_not_found');
    if (isTurnOver(turn.state)) return turn;
    const waits = await pendingInteractions(engine.db, [conversationId]);
    for (const wait of waits) await resolve(engine, conversationId, wait, await answer(wait));
    if (waits.length === 0) await untilStateMayChange(follower, signal);
  }
}

async function resolve(
  engine: Engine,
  conversationId: string,
  wait: InteractionRow,
  resolution: InteractionResolution,
): Promise<void> {
  await changeConversation(engine, conversationId, null, async (change) => {
    const row = await findInteraction(change.tx, { orgId: wait.org_id, mode: wait.mode }, wait.id);
    if (row?.status === 'pending') await resolveInteraction(engine, change, row, resolution);
  });
}

const stateEvents = new Set(['interaction.created', 'turn.settled', 'conversation.status']);

/** Waits for an event that can change the state of a turn; streamed text cannot. */
async function untilStateMayChange(follower: Follower, signal: AbortSignal): Promise<void> {
  for (;;) {
    const entries = await follower.next(lookAgainMs);
    if (entries.length === 0 || signal.aborted || entries.some(({ type }) => stateEvents.has(type))) return;
  }
}

/**
 * The answer to an interaction in a test. The scenario decides about functions and tools of the version's servers, and
 * every other approval is denied. Questions go to the pretend user.
 */
export function standInAnswer(
  { type, purpose, details }: Pick<InteractionRow, 'type' | 'purpose' | 'details'>,
  { approves, functions }: Pick<PlayedScenario, 'approves'> & { functions: readonly string[] },
): InteractionResolution | 'ask the user' {
  switch (type) {
    case 'approval': {
      const isOfVersion = typeof details.server === 'string' || functions.includes(String(details.tool_name));
      const isApproved = approves === true && purpose === 'permission' && isOfVersion;
      return { status: 'resolved', decision: isApproved ? 'approved' : 'denied' };
    }
    case 'question':
      return 'ask the user';
    case 'handoff':
      return { status: 'resolved', decision: 'denied', reason: 'could_not', message: 'I could not do it.' };
    case 'connect':
      return { status: 'resolved', decision: 'denied' };
    case 'tool_call':
      return { status: 'resolved', decision: 'answered', output: 'This tool is not run in a test.', is_error: true };
  }
}
