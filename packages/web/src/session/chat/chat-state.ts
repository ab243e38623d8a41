import type { Api } from '@vestra/contract/api';
import { deletedTaskLine } from '@vestra/contract/deleted-task';
import type { ResponseOf } from '@vestra/contract/route';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Trouble } from '../trouble.ts';

export type Conversation = ResponseOf<Api['conversations']['get']>;
type Message = ResponseOf<Api['conversations']['messages']>['data'][number];
export type Interaction = ResponseOf<Api['interactions']['get']>;
export type Turn = Awaited<ResponseOf<Api['conversations']['send']>>;
type Task = ResponseOf<Api['tasks']['get']>;
type OutputFile = ResponseOf<Api['files']['list']>['data'][number];
export type Attachment = Message['attachments'][number];

/** A message, possibly partial. */
export type ShownMessage = Pick<Message, 'id' | 'turn_id' | 'task_id' | 'role' | 'text' | 'attachments' | 'sources'> & {
  isWhole: boolean;
  /** It was made while the page was open, so its text is revealed evenly. */
  isLive: boolean;
  /** Null while the reply is made. */
  created_at: string | null;
};

/** A task as far as it is known. Waiting is derived from pending interactions. */
export type Work = Pick<Task, 'id' | 'status' | 'progress'> & {
  /** Null until the server names it. */
  title: string | null;
  isStopped: boolean;
  /** Its current activity: a progress text, or the last tool that it called. */
  activity: { text: string } | { tool: string } | null;
  files: readonly OutputFile[];
};

export type Waiting = { interaction: Interaction; turnId: string | null };

/** A pending function call with its latest progress text. */
export type CompanyCall = {
  id: string;
  /** Null until the event that names it. */
  name: string | null;
  taskId: string | null;
  progress: string | null;
  /** Calls of tool servers have no interaction, and end with their reply or task. */
  hasInteraction: boolean;
};

/** A message of the user that is being sent or was accepted. */
export type Outgoing = {
  /** Also the Idempotency-Key, so that a retry does not duplicate the message. */
  key: string;
  text: string;
  attachments: readonly Attachment[];
  /** By the clock of the browser. */
  sentAt: string;
  turnId: string | null;
  failure: Trouble | null;
};

export type ChatState = {
  isLoaded: boolean;
  status: Conversation['status'];
  messages: Readonly<Record<string, ShownMessage>>;
  outgoing: readonly Outgoing[];
  works: Readonly<Record<string, Work>>;
  waits: Readonly<Record<string, Waiting>>;
  calls: Readonly<Record<string, CompanyCall>>;
  /** Started turns, with their result if settled. */
  turns: Readonly<Record<string, Turn>>;
  /** The last tool of each running reply, until its text begins. */
  tools: Readonly<Record<string, string>>;
  /** A reply of the conversation has searched documents or cites them. */
  hasSources: boolean;
  /** The cursor of older messages, or null. */
  older: string | null;
  /** The oldest message that was read. Earlier data has gaps. */
  oldest: string | null;
};

export type Loaded = {
  conversation: Conversation;
  messages: readonly Message[];
  older: string | null;
  interactions: readonly Interaction[];
  events: readonly StreamEvent[];
};

export type ChatAction =
  | { type: 'loaded'; loaded: Loaded }
  | { type: 'event'; event: StreamEvent }
  /** Past events, which do not change the status. */
  | { type: 'replayed'; events: readonly StreamEvent[] }
  | { type: 'newest'; messages: readonly Message[] }
  | { type: 'older'; messages: readonly Message[]; older: string | null }
  | { type: 'interaction'; interaction: Interaction }
  | { type: 'sending'; outgoing: Outgoing }
  | { type: 'sent'; key: string; turn: Turn }
  | { type: 'unsent'; key: string; failure: Trouble };

export const emptyChat: ChatState = {
  isLoaded: false,
  status: 'idle',
  messages: {},
  outgoing: [],
  works: {},
  waits: {},
  calls: {},
  turns: {},
  tools: {},
  hasSources: false,
  older: null,
  oldest: null,
};

export function chatReducer(state: ChatState, action: ChatAction): ChatState {
  switch (action.type) {
    case 'loaded':
      return afterLoad(state, action.loaded);
    case 'event':
      return afterEvent(state, action.event);
    case 'replayed':
      return { ...action.events.reduce(afterEvent, state), status: state.status };
    case 'newest':
      return withMessages(state, action.messages);
    case 'older':
      return withPage(state, action);
    case 'interaction':
      return withInteraction(state, action.interaction, state.waits[action.interaction.id]?.turnId ?? null);
    case 'sending': {
      const others = state.outgoing.filter(({ key }) => key !== action.outgoing.key);
      return { ...state, outgoing: [...others, action.outgoing] };
    }
    case 'sent': {
      const outgoing = state.outgoing.map((each) =>
        each.key === action.key ? { ...each, turnId: action.turn.id, failure: null } : each,
      );
      return withoutDoubles({ ...state, outgoing });
    }
    case 'unsent': {
      const outgoing = state.outgoing.map((each) =>
        each.key === action.key ? { ...each, failure: action.failure } : each,
      );
      return { ...state, outgoing };
    }
  }
}

/** Applies the messages, then recent events, then the current status. */
function afterLoad(state: ChatState, { conversation, messages, older, interactions, events }: Loaded): ChatState {
  const read = withPage(state, { messages, older });
  const replayed = events.reduce(afterEvent, read);
  const open = conversation.open_work.reduce(
    (before, { task_id, title, status }) =>
      withWork(before, task_id, {
        title: title ?? before.works[task_id]?.title ?? null,
        status: status === 'waiting' ? 'working' : status,
      }),
    replayed,
  );
  const waiting = interactions.reduce((before, each) => withInteraction(before, each, null), open);
  const calls = conversation.pending_tool_calls.map(({ call_id: id, name, task_id: taskId, progress = null }) => [
    id,
    { id, name, taskId, progress, hasInteraction: true },
  ]);
  return { ...waiting, calls: Object.fromEntries(calls), status: conversation.status, isLoaded: true };
}

function afterEvent(state: ChatState, event: StreamEvent): ChatState {
  const { type, task_id, turn_id, data } = event;
  switch (type) {
    case 'conversation.status':
      return { ...state, status: data.status };
    case 'turn.started':
      return withTurn(state, data.turn);
    case 'turn.settled':
      return withTurn(withoutTool(withoutPartial(withoutCalls(state, null), turn_id), turn_id), data.turn);
    case 'reply.delta':
      return withDelta(withoutTool(state, turn_id), event, data);
    case 'reply.completed':
      return withMessages(state, [data.message]);
    case 'interaction.created':
    case 'interaction.resolved':
      return withInteraction(state, data.interaction, turn_id);
    case 'tool_call.created': {
      const { call_id: id, name, progress = null } = data.call;
      const known = state.calls[id];
      return known ? { ...state, calls: { ...state.calls, [id]: { ...known, name, progress } } } : state;
    }
    case 'tool_call.started': {
      if (turn_id === null) return state;
      const hasSources = state.hasSources || data.name === 'search_notebooks' || data.name === 'read_document';
      return { ...state, hasSources, tools: { ...state.tools, [turn_id]: data.name } };
    }
    case 'tool_call.progress': {
      const hasInteraction = state.calls[data.call_id]?.hasInteraction ?? false;
      const call = { id: data.call_id, name: data.name, taskId: task_id, progress: data.text, hasInteraction };
      return withWork({ ...state, calls: { ...state.calls, [call.id]: call } }, task_id, {
        activity: { text: data.text },
      });
    }
    case 'task.progress':
      return withWork(state, task_id, data);
    case 'task.step':
      return data.step.name === null ? state : withWork(state, task_id, { activity: { tool: data.step.name } });
    case 'task.started':
    case 'task.completed':
    case 'task.failed':
    case 'task.stopped': {
      const { status, title, progress } = data.task;
      const now = type === 'task.started' ? state : withoutCalls(state, task_id);
      return withWork(now, task_id, { status, title, progress, isStopped: type === 'task.stopped' });
    }
    case 'task.deleted':
      return withoutTask(state, task_id);
    case 'file.created': {
      const { file } = data;
      const files = state.works[task_id ?? '']?.files ?? [];
      return files.some(({ id }) => id === file.id) ? state : withWork(state, task_id, { files: [...files, file] });
    }
    default:
      return state;
  }
}

/** Removes a deleted task from the page. A line replaces its result, as on the server. */
function withoutTask(state: ChatState, taskId: string | null): ChatState {
  const others = <Kept>(all: Readonly<Record<string, Kept>>, of: (each: Kept, id: string) => string | null) =>
    Object.fromEntries(Object.entries(all).filter(([id, each]) => of(each, id) !== taskId));
  return {
    ...state,
    works: others(state.works, (_work, id) => id),
    messages: Object.fromEntries(
      Object.entries(state.messages).map(([id, message]) => [
        id,
        message.task_id === taskId ? { ...message, text: deletedTaskLine } : message,
      ]),
    ),
    waits: others(state.waits, ({ interaction }) => interaction.task_id),
    calls: others(state.calls, (call) => call.taskId),
  };
}

const withTurn = (state: ChatState, turn: Turn): ChatState => ({
  ...state,
  turns: { ...state.turns, [turn.id]: turn },
});

/** The next text of a reply says more than the tool before it. */
function withoutTool(state: ChatState, turnId: string | null): ChatState {
  if (turnId === null || !(turnId in state.tools)) return state;
  const { [turnId]: _, ...tools } = state.tools;
  return { ...state, tools };
}

/** A settled turn gets no more text, so partial replies become final. */
function withoutPartial(state: ChatState, turnId: string | null): ChatState {
  const partial = Object.values(state.messages).filter(({ turn_id, isWhole }) => turn_id === turnId && !isWhole);
  const whole = partial.map((said) => [said.id, { ...said, isWhole: true }]);
  return whole.length === 0 ? state : { ...state, messages: { ...state.messages, ...Object.fromEntries(whole) } };
}

function withDelta(
  state: ChatState,
  { turn_id, task_id }: StreamEvent,
  { message_id: id, text }: { message_id: string; text: string },
): ChatState {
  const before = state.messages[id];
  if (before?.isWhole || turn_id === null) return state;
  const said: ShownMessage = before ?? {
    id,
    turn_id,
    task_id,
    role: task_id === null ? 'agent' : 'work',
    text: '',
    attachments: [],
    isWhole: false,
    // The text from before the page was opened is not revealed again.
    isLive: state.isLoaded,
    created_at: null,
  };
  return { ...state, messages: { ...state.messages, [id]: { ...said, text: said.text + text } } };
}

/** Pages come newest first. */
function withPage(state: ChatState, { messages, older }: Pick<Loaded, 'messages' | 'older'>): ChatState {
  return withMessages({ ...state, older, oldest: messages.at(-1)?.id ?? state.oldest }, messages);
}

function withMessages(state: ChatState, messages: readonly Message[]): ChatState {
  const added = messages.map((message): [string, ShownMessage] => [
    message.id,
    { ...message, isWhole: true, isLive: state.messages[message.id]?.isLive ?? false },
  ]);
  const hasSources = state.hasSources || messages.some(({ sources }) => sources !== undefined);
  return withoutDoubles({ ...state, hasSources, messages: { ...state.messages, ...Object.fromEntries(added) } });
}

/** Removes outgoing messages that have been read from the server. */
function withoutDoubles(state: ChatState): ChatState {
  const kept = state.outgoing.filter(
    ({ turnId }) =>
      turnId === null ||
      !Object.values(state.messages).some(({ role, turn_id }) => role === 'user' && turn_id === turnId),
  );
  return kept.length === state.outgoing.length ? state : { ...state, outgoing: kept };
}

/** Only `interactions.get` returns the screenshot, so later events must not remove it. */
function withInteraction(state: ChatState, interaction: Interaction, turnId: string | null): ChatState {
  if (interaction.type === 'tool_call') return withCall(state, interaction);
  const before = state.waits[interaction.id];
  const wait: Waiting = {
    interaction: { ...(before?.interaction.frame_url && { frame_url: before.interaction.frame_url }), ...interaction },
    turnId: turnId ?? before?.turnId ?? null,
  };
  return { ...state, waits: { ...state.waits, [interaction.id]: wait } };
}

function withCall(state: ChatState, { id, task_id: taskId, status }: Interaction): ChatState {
  const { [id]: known, ...others } = state.calls;
  const open = known
    ? { ...known, hasInteraction: true }
    : { id, name: null, taskId, progress: null, hasInteraction: true };
  return { ...state, calls: status === 'pending' ? { ...others, [id]: open } : others };
}

/** Ends the calls of tool servers with their reply or task. Other calls may belong to an earlier reply that still waits. */
function withoutCalls(state: ChatState, taskId: string | null): ChatState {
  const left = Object.entries(state.calls).filter(([, call]) => call.taskId !== taskId || call.hasInteraction);
  return { ...state, calls: Object.fromEntries(left) };
}

/** The latest progress of the tool servers that the current reply calls. Undefined if none is called. */
export function serverProgress({ calls }: ChatState): string | null | undefined {
  const ofReply = Object.values(calls).filter(({ taskId, hasInteraction }) => taskId === null && !hasInteraction);
  if (ofReply.length === 0) return undefined;
  return ofReply.findLast(({ progress }) => progress !== null)?.progress ?? null;
}

function withWork(state: ChatState, taskId: string | null, change: Partial<Work>): ChatState {
  if (taskId === null) return state;
  const before = state.works[taskId] ?? newWork(taskId);
  return { ...state, works: { ...state.works, [taskId]: { ...before, ...change } } };
}

const newWork = (id: string): Work => ({
  id,
  status: 'working',
  title: null,
  progress: [],
  isStopped: false,
  activity: null,
  files: [],
});
