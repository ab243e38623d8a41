import type { Api } from '@vestra/contract/api';
import { conversations as contract } from '@vestra/contract/conversations';
import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { saysSomething } from '@vestra/contract/message';
import type { ResponseOf } from '@vestra/contract/route';
import { type Followers, type LogEntry, readLog } from '../../account/index.ts';
import { findDeployment } from '../../agents/deployments/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import { batchReads } from '../../platform/db/batch-concurrent-calls.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import {
  type CommittedResponse as Answered,
  EventStream,
  type Handlers,
  Reply,
  readCommitted,
  type WriteStatements,
} from '../../platform/http/handler.ts';
import type { OpenStream, Streams } from '../../platform/http/streams.ts';
import type { EraseConversations, EraseFiles } from '../../platform/registration.ts';
import { announce, type CommittedChange, changeConversation } from '../records/change.ts';
import { firstSeqOfTurn } from '../records/conversation-log.ts';
import { findConversation, findConversationsWithCost, listConversations } from '../records/conversations.ts';
import { cursorOfMessage, listMessages } from '../records/messages.ts';
import { presentLogEntry, presentMessage, showConversations, showTurn } from '../records/present.ts';
import type { ConversationRow, TurnRow } from '../records/tables.ts';
import { findTask } from '../records/tasks.ts';
import { type LinkTo, showTurnTrace } from '../records/trace.ts';
import { areRunning, type FollowedTurns, findTurn, isTurnOver } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import type { PlannedConversation } from '../turns/accept-unlocked.ts';
import { stopAll } from '../turns/stop.ts';
import { createConversation, planCreation } from './create.ts';
import { deleteConversation } from './delete.ts';
import { followConversation, followTurn, waitForTurn } from './follow.ts';
import { planSentMessage, sendMessage, showMessageSources, withTraceparent } from './message.ts';

export type ConversationDependencies = {
  engine: Engine;
  followers: Followers;
  streams: Streams;
  linkTo: LinkTo;
  /** Deletes everything about conversations in every module. */
  erasure: readonly EraseConversations[];
  fileErasure: readonly EraseFiles[];
};

type Shown = ResponseOf<Api['conversations']['create']>;
type ShownTurn = ResponseOf<Api['conversations']['send']>;
/** `done` is the change of this request; undefined if an earlier request with the same idempotency key made it. */
type Taken<Body> = { answer: Answered<Body>; done: CommittedChange | undefined };

export function conversationRoutes(deps: ConversationDependencies): Handlers<'conversations'> {
  const { engine, followers, streams, linkTo, erasure, fileErasure } = deps;
  const { db } = engine;
  const following = {
    followers,
    // Followers that ask at the same moment share a statement: a server that shuts down may have thousands of them.
    isRunning: batchReads((wanted: FollowedTurns[]) => areRunning(db, wanted)),
  };
  const findWithCost = batchReads((wanted: (Tenant & { id: string })[]) => findConversationsWithCost(db, wanted));

  /** Starts to follow before the commit is announced, so that no event is missed. */
  async function streamTurn(
    open: OpenStream,
    of: { conversation: ConversationRow; turnId: string; entries: readonly LogEntry[] },
  ): Promise<EventStream> {
    const { conversation, turnId, entries } = of;
    const begun = entries.findIndex(({ type, turn_id }) => type === 'turn.started' && turn_id === turnId);
    const written = begun === -1 ? null : entries.slice(begun);
    const after = (written?.[0]?.seq ?? (await firstSeqOfTurn(db, conversation.id, turnId))) - 1;
    return new EventStream(open, followTurn(following, conversation, { turnId, after, written }));
  }

  /** Opens the stream before the message is accepted: a message must not be sent if its stream cannot be opened. */
  async function holding<T>(caller: Caller, signal: AbortSignal, work: (open: OpenStream) => Promise<T>): Promise<T> {
    const open = streams.open(caller, signal);
    try {
      return await work(open);
    } catch (error) {
      open.close();
      throw error;
    }
  }

  /** In a busy process, the messages of an org wait for each other, and not those of others for them. */
  const inTurn =
    <Body>({ orgId }: Caller, signal: AbortSignal, take: () => Promise<Taken<Body>>) =>
    async (): Promise<Taken<Body>> => {
      const leave = await engine.runner.enter(orgId, signal);
      return take().finally(leave);
    };

  const announced = <Body>({ answer, done }: Taken<Body>): Answered<Body> => {
    if (done) announce(engine.announcer, done);
    return answer;
  };

  return {
    list: async ({ caller, query, page }) => {
      const named = query.deployment && (await findDeployment(db, caller.orgId, query.deployment));
      if (query.deployment && !named) return { data: [], next_cursor: null };
      const filter = {
        userId: query.user_id,
        status: query.status,
        failed: query.failed,
        errorCode: query.error_code,
        failedAfter: query.failed_after,
        q: query.q,
        createdAfter: query.created_after,
        createdBefore: query.created_before,
        ...(named && { deploymentId: named.deployment.id, version: named.version ?? undefined }),
      };
      const rows = await listConversations(db, caller, filter, page);
      const show = await showConversations(db, rows.slice(0, page.limit));
      return page.of(
        rows,
        (row) => show(row),
        (row) => [row.id],
      );
    },
    create: async ({ caller, headers, body: said, commit, write, signal }) => {
      const body = withTraceparent(said, caller, headers);
      const create = async (): Promise<Taken<Shown>> =>
        (await writeIfUnchanged(await planCreation(engine, caller, body), write)) ??
        (await writeUnderLock((tx) => createConversation(engine, tx, caller, body), commit));
      const take = saysSomething(body) ? inTurn(caller, signal, create) : create;
      if (!body.stream) return announced(await take());
      return holding(caller, signal, async (open) => {
        const taken = await take();
        const shown = readCommitted(taken.answer);
        const conversation = taken.done?.conversation ?? (await ownConversation(db, caller, shown.id));
        const entries = taken.done?.entries ?? [];
        const streaming = streamTurn(open, { conversation, turnId: shown.turn_id as string, entries });
        return streaming.finally(() => announced(taken));
      });
    },
    get: async ({ caller, params }) => {
      assertReach(caller, params.conversation_id);
      const found = await findWithCost({ id: params.conversation_id, orgId: caller.orgId, mode: caller.mode });
      if (!found) throw fail('conversation_not_found');
      return (await showConversations(db, [found.row], new Map([[found.row.id, found]])))(found.row);
    },
    send: async ({ caller, origin, params, body: said, headers, commit, write, signal }) => {
      const body = withTraceparent(said, caller, headers);
      assertReach(caller, params.conversation_id);
      const id = params.conversation_id;
      const take = inTurn<ShownTurn>(
        caller,
        signal,
        async () =>
          (await writeIfUnchanged(await planSentMessage(engine, caller, id, body), write)) ??
          (await writeUnderLock((tx) => sendMessage(engine, tx, { caller, origin }, id, body), commit)),
      );
      const waitMs = readWait(headers.get('prefer'));
      if (!body.stream && waitMs === null) return announced(await take());
      return holding(caller, signal, async (open) => {
        const taken = await take();
        const sent = readCommitted(taken.answer);
        const conversation = taken.done?.conversation ?? (await ownConversation(db, caller, params.conversation_id));
        if (body.stream) {
          const entries = taken.done?.entries ?? [];
          return streamTurn(open, { conversation, turnId: sent.id, entries }).finally(() => announced(taken));
        }
        announced(taken);
        const after = (await firstSeqOfTurn(db, conversation.id, sent.id)) - 1;
        const waited = { turnId: sent.id, conversationId: conversation.id, after };
        const withinMs = waitMs as number;
        const turn = await waitForTurn({ db, followers }, waited, { withinMs, signal: open.signal });
        open.close();
        return new Reply(await showTurn(db, turn), {
          status: isTurnOver(turn.state) ? 200 : 202,
          headers: { 'preference-applied': `wait=${withinMs / 1000}` },
        });
      });
    },
    messages: async ({ caller, params, page }) => {
      const { id } = await ownConversation(db, caller, params.conversation_id);
      return page.of(await listMessages(db, id, page), presentMessage, cursorOfMessage);
    },
    messageSources: async ({ caller, params }) =>
      showMessageSources(db, await ownConversation(db, caller, params.conversation_id), params.message_id),
    events: async ({ caller, params, query, headers, signal }) => {
      const conversation = await ownConversation(db, caller, params.conversation_id);
      const taskId = query.task_id ?? null;
      if (taskId !== null) await assertTask(db, caller, conversation.id, taskId);
      const after = readLastEventId(headers) ?? query.after ?? 0;
      if (query.format === undefined) {
        return new EventStream(
          streams.open(caller, signal),
          followConversation(following, conversation, { after, taskId }),
        );
      }
      const { limit } = query;
      const entries = await readLog(db, conversation.id, { after, limit: limit + 1, taskId });
      const shown = entries.slice(0, limit);
      return {
        data: shown.map((entry) => presentLogEntry(entry, conversation.deployment_id)),
        next_after: entries.length > limit ? (shown.at(-1)?.seq ?? null) : null,
      };
    },
    turn: async ({ caller, params }) => showTurn(db, await ownTurn(db, caller, params)),
    trace: async ({ caller, params, query }) =>
      showTurnTrace(db, await ownTurn(db, caller, params), { linkTo, withContent: query.include === 'content' }),
    stop: async ({ caller, params }) => {
      const { id } = await ownConversation(db, caller, params.conversation_id);
      await changeConversation(engine, id, null, (change) => stopAll(engine, change));
      const row = await ownConversation(db, caller, id);
      return (await showConversations(db, [row]))(row);
    },
    delete: async ({ caller, origin, params }) => {
      const row = await ownConversation(db, caller, params.conversation_id);
      await deleteConversation({ engine, followers, steps: erasure, fileErasure }, origin, row);
      return { object: 'conversation', id: row.id, deleted: true };
    },
  };
}

/** A session token reaches only its own conversation. */
function assertReach({ session }: Caller, conversationId: string): void {
  if (session && session.conversationId !== conversationId) throw fail('session_scope');
}

async function ownConversation(db: Database, caller: Caller, id: string): Promise<ConversationRow> {
  assertReach(caller, id);
  const row = await findConversation(db, caller, id);
  if (!row) throw fail('conversation_not_found');
  return row;
}

async function ownTurn(
  db: Database,
  caller: Caller,
  { conversation_id, turn_id }: { conversation_id: string; turn_id: string },
): Promise<TurnRow> {
  const { id } = await ownConversation(db, caller, conversation_id);
  const turn = await findTurn(db, turn_id);
  if (turn?.conversation_id !== id) throw fail('turn_not_found');
  return turn;
}

async function assertTask(db: Database, caller: Caller, conversationId: string, taskId: string): Promise<void> {
  const task = await findTask(db, caller, taskId);
  if (task?.conversation_id !== conversationId) throw fail('task_not_found');
}

/** Writes what was planned from cached rows. Null if a row has changed: then nothing was written. */
async function writeIfUnchanged<Body>(
  planned: (PlannedConversation & { shown: Body }) | null,
  write: WriteStatements,
): Promise<Taken<Body> | null> {
  if (!planned) return null;
  const { conversation, statements, shown } = planned;
  const answered = await write(conversation.id, statements, shown).catch((error: unknown) => {
    planned.forget();
    throw error;
  });
  if (answered) return { answer: answered.answer, done: planned.committed(answered.results) };
  planned.forget();
  return null;
}

async function writeUnderLock<Body>(
  work: (tx: Transaction) => Promise<{ shown: Body; committed: CommittedChange }>,
  commit: <Shown>(work: (tx: Transaction) => Promise<Shown>) => Promise<Answered<Shown>>,
): Promise<Taken<Body>> {
  let done: CommittedChange | undefined;
  const answer = await commit(async (tx) => {
    const { shown, committed } = await work(tx);
    done = committed;
    return shown;
  });
  return { answer, done };
}

/** Reads `Prefer: wait=N`, also among other preferences, and limits it to 1 to 120 seconds. */
function readWait(prefer: string | null): number | null {
  const [, seconds] = /(?:^|[,;\s])wait=(\d+)(?=$|[,;\s])/i.exec(prefer ?? '') ?? [];
  return seconds === undefined ? null : Math.min(120, Math.max(1, Number(seconds))) * 1000;
}

function readLastEventId(headers: Headers): number | null {
  const given = headers.get('last-event-id');
  if (given === null) return null;
  const read = check(contract.events.headers, { 'Last-Event-ID': given }, 'invalid_request');
  if (!read.ok) throw fail('invalid_last_event_id', { param: 'Last-Event-ID' });
  return Number(given);
}
