/**
 * A message starts a turn, and a turn may start a task. These functions return the rows and collect the events; they
 * neither read nor write. `turns/accept.ts` runs them under a lock, `turns/accept-unlocked.ts` guarded by versions, and
 * `turns/start-run.ts` for many conversations at once.
 */
import { newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { PricedModel } from '@vestra/models/prices';
import { costOfKinds } from '../../billing/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { EventSink } from '../records/change.ts';
import { presentConversation } from '../records/present.ts';
import { publishMessage, publishPricedTask, publishPricedTurn } from '../records/publish.ts';
import type {
  Attachment,
  ConversationRow,
  MessageRow,
  TaskRow,
  TurnOrigin,
  TurnRequest,
  TurnRow,
} from '../records/tables.ts';
import { startsTask } from '../records/turns.ts';

export type NewMessage = {
  text: string;
  context: Record<string, unknown> | null;
  attachments: readonly Attachment[];
  request: TurnRequest;
  origin: TurnOrigin;
};

/** The version and model that answer a message, chosen before anything is written. */
export type Admission = {
  version: number;
  readsNewest: boolean;
  model: PricedModel;
  /** Names of the functions that the version declares. */
  functions: readonly string[];
};

/** A message starts a reply, goes straight to a task, or waits behind the reply that is running. */
export function decideTurn(
  before: ConversationRow,
  { version, readsNewest, functions }: Admission,
  message: NewMessage,
  events: EventSink,
): { conversation: ConversationRow; asked: MessageRow; turn: TurnRow } {
  refuseRedeclared(functions, message.request.tools ?? []);
  const isTask = startsTask(message.request);
  const state = isTask ? 'working' : before.replying_turn_id === null ? 'replying' : 'queued';
  const conversation: ConversationRow = {
    ...before,
    turn_count: before.turn_count + 1,
    deployment_version: version,
    last_active_at: sharedDate(),
  };
  const { asked, turn } = rowsOfMessage(conversation, message, {
    state,
    // A test run uses the content that its version fixes, even if the draft changes meanwhile.
    reads_newest: readsNewest && message.origin !== 'test',
  });
  if (state === 'replying') conversation.replying_turn_id = turn.id;
  if (state === 'queued') conversation.queued_turns += 1;
  else publishPricedTurn(events, 'turn.started', turn, 0n);
  return { conversation, asked, turn };
}

/** A turn becomes a task: the user sees one line, and the conversation is free for the next message. */
export function decideTask(
  conversation: ConversationRow,
  turn: TurnRow,
  of: {
    status: 'queued' | 'working';
    title: string | null;
    ask: string;
    brief: string | null;
    acknowledgement: string;
    unstreamed: string;
  },
  events: EventSink,
): { task: TaskRow; message: MessageRow; turn: Pick<TurnRow, 'state' | 'acknowledgement' | 'task_id'> } {
  const { status, title, ask, brief, acknowledgement } = of;
  const task = newTask(conversation, turn, { status, title, ask, brief });
  const message: MessageRow = {
    conversation_id: turn.conversation_id,
    id: turn.reply_message_id,
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    task_id: null,
    role: 'agent',
    text: acknowledgement,
    data: null,
    context: null,
    attachments: [],
    is_cut: false,
    sources: null,
    created_at: sharedDate(),
  };
  publishMessage(events, message, of.unstreamed);
  if (status === 'working') publishPricedTask(events, 'task.started', task, costOfKinds({}));
  return { task, message, turn: { state: 'working', acknowledgement, task_id: task.id } };
}

/** Publishes a new conversation. */
export function publishCreated(events: EventSink, conversation: ConversationRow): void {
  events.emit({ type: 'conversation.created', data: presentNewConversation(conversation) });
}

/** `first` is its first message, with the turn of it. */
export const presentNewConversation = (conversation: ConversationRow, first?: { preview: string; turnId: string }) =>
  presentConversation(conversation, {
    tasks: [],
    interactions: [],
    cost: costOfKinds({}),
    preview: first?.preview || null,
    ...(first && { firstTurnId: first.turnId }),
  });

/** A version decides how its functions are called and which need approval, so a message cannot redeclare one. */
function refuseRedeclared(functions: readonly string[], ofMessage: readonly { name: string }[]): void {
  const at = ofMessage.findIndex(({ name }) => functions.includes(name));
  if (at === -1) return;
  throw fail('duplicate_name', {
    param: `tools.${at}.name`,
    message: 'The deployment has a function of this name. Leave it out here: it can be called as it is.',
  });
}

/** A queued reply reads the history when it starts, because more messages may come before that. */
function rowsOfMessage(
  conversation: ConversationRow,
  message: NewMessage,
  { state, reads_newest }: { state: 'working' | 'replying' | 'queued'; reads_newest: boolean },
) {
  const [turnId, messageId, created_at] = [newId('turn'), newId('msg'), sharedDate()];
  const begins = state !== 'queued';
  const asked: MessageRow = {
    conversation_id: conversation.id,
    id: messageId,
    turn_id: turnId,
    turn_ordinal: conversation.turn_count,
    task_id: null,
    role: 'user',
    text: message.text,
    data: null,
    context: message.context,
    attachments: [...message.attachments],
    is_cut: false,
    sources: null,
    created_at,
  };
  const turn: TurnRow = {
    conversation_id: conversation.id,
    ordinal: conversation.turn_count,
    id: turnId,
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    deployment_id: conversation.deployment_id as string,
    deployment_version: conversation.deployment_version as number,
    reads_newest,
    state,
    request: message.request,
    origin: message.origin,
    message_id: messageId,
    reply_message_id: newId('msg'),
    history_until: begins ? messageId : null,
    base_summary: begins ? conversation.summary : null,
    base_from: begins ? conversation.summary_until : null,
    fence: conversation.fence,
    active_ms: 0,
    reply_text: null,
    reply_data: null,
    reply_is_cut: false,
    acknowledgement: null,
    task_id: null,
    error_code: null,
    error_message: null,
    missing_tools: null,
    created_at,
    settled_at: null,
  };
  return { asked, turn };
}

const newTask = (
  { is_hidden }: ConversationRow,
  turn: TurnRow,
  of: Pick<TaskRow, 'status' | 'title' | 'ask' | 'brief'>,
): TaskRow => {
  const now = sharedDate();
  return {
    org_id: turn.org_id,
    mode: turn.mode,
    id: newId('task'),
    conversation_id: turn.conversation_id,
    turn_id: turn.id,
    user_id: turn.user_id,
    deployment_id: turn.deployment_id,
    deployment_version: turn.deployment_version,
    ...of,
    progress: [],
    result_text: null,
    result_data: null,
    result_is_cut: false,
    outcome_met: null,
    outcome_reason: null,
    outcome_rounds: null,
    error_code: null,
    error_message: null,
    missing_tools: null,
    is_hidden,
    fence: newFence(),
    active_ms: 0,
    created_at: now,
    updated_at: now,
  };
};
