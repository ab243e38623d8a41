import type { JsonSchema, Reasoning } from '@vestra/agent/message';
import type { interactionKinds } from '@vestra/contract/interactions';
import type { messageRoles } from '@vestra/contract/message';
import type { MissingTool } from '@vestra/contract/missing-tools';
import type { Mode } from '@vestra/contract/route';
import type { taskStatuses } from '@vestra/contract/tasks';
import {
  boolean,
  count,
  integer,
  json,
  jsonb,
  micros,
  moment,
  type RowOf,
  table,
  text,
  textArray,
} from '../../platform/db/table.ts';

export type ConversationStatus = 'idle' | 'replying' | 'working' | 'waiting';

export type TurnState = 'queued' | 'replying' | 'waiting' | 'working' | 'settled' | 'failed' | 'stopped';

/** The source of the message: a user through the caller's system, or a feature of the server. */
export type TurnOrigin = 'message' | 'batch' | 'routine' | 'test' | 'interview';

/** The options of a message. */
export type TurnRequest = {
  output_schema?: JsonSchema | undefined;
  success_criteria?: string | undefined;
  tools?: readonly MessageTool[] | undefined;
  hand_off: 'auto' | 'always';
  plan: boolean;
  /** The caller's W3C trace context. */
  traceparent?: string | undefined;
  /** Set only by test runs. No request can set it. */
  test?: TestScript | undefined;
};

/** Results that replace real tool calls in a test, by function name or `<server>.<tool>`. */
export type TestScript = {
  tool_results: Readonly<Record<string, unknown>>;
  /** Searched before `tool_results`. Older rows do not have it. */
  recorded_calls?: readonly RecordedCall[] | undefined;
  /** Null and absent: a test without a user. */
  as?: ActsAs | null | undefined;
  /** The conversation that is replayed. Its recorded tool results are returned, and no tool runs. */
  replay_of?: string | undefined;
  /** The turn may cost this much. Set by improvements, whose spending has its own kind. */
  max_micros?: number | undefined;
};

/** Whose notebooks a test reads, and secrets of the company by the names of the user's secrets that they replace. */
type ActsAs = {
  user_id?: string | undefined;
  secrets?: Readonly<Record<string, string>> | undefined;
};

/** A recorded result of a tool for exact arguments. */
export type RecordedCall = {
  tool: string;
  arguments: Record<string, unknown>;
  result: unknown;
  is_error?: boolean | undefined;
};

export type MessageTool = {
  name: string;
  description: string;
  input_schema: JsonSchema;
  timeout_s: number;
  read_only: boolean;
  run_without_asking: boolean;
  /** Older rows do not have it. */
  approver?: 'user' | 'org' | undefined;
};

export const conversations = table('conversations', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  deployment_id: text().nullable(),
  deployment_version: integer().nullable(),
  pinned_version: integer().nullable(),
  status: text<ConversationStatus>().withDefault(),
  metadata: jsonb<Record<string, string>>().withDefault(),
  last_event_seq: count().withDefault(),
  turn_count: integer().withDefault(),
  queued_turns: integer().withDefault(),
  open_tasks: integer().withDefault(),
  open_interactions: integer().withDefault(),
  replying_turn_id: text().nullable(),
  is_hidden: boolean().withDefault(),
  /** Delimits untrusted text in prompts. */
  fence: text().withDefault(),
  summary: text().nullable(),
  summary_until: text().nullable(),
  memory_due_at: moment().nullable(),
  remembered_until: text().nullable(),
  memory_tries: integer().withDefault(),
  /** Why the turn that ended last failed. */
  last_error_code: text().nullable(),
  last_error_message: text().nullable(),
  created_at: moment().withDefault(),
  last_active_at: moment().withDefault(),
});

export const messages = table('messages', {
  conversation_id: text(),
  id: text(),
  turn_id: text(),
  turn_ordinal: integer(),
  task_id: text().nullable(),
  role: text<(typeof messageRoles)[number]>(),
  text: text(),
  data: json().nullable(),
  context: json<Record<string, unknown>>().nullable(),
  attachments: jsonb<Attachment[]>().withDefault(),
  /** True if the model's output limit cut the text. */
  is_cut: boolean().withDefault(),
  /** The passages that the text cites, in the order of their marks in it. Null: none. */
  sources: jsonb<CitedPassage[]>().nullable(),
  created_at: moment().withDefault(),
});

/** A place in a document, and the mark by which the agent cites it. It holds no text, so a deletion leaves nothing. */
export type CitedPassage = {
  mark: number;
  notebook_id: string;
  document_id: string;
  /** The position of a found passage. Null: the agent read a part of the document, which `from` begins. */
  position: number | null;
  from?: number;
};

export type Attachment = { file_id: string; filename: string };

export const turns = table('turns', {
  conversation_id: text(),
  ordinal: integer(),
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  deployment_id: text(),
  deployment_version: integer(),
  /** True if the turn reads the newest notebooks and skills, and not the ones that the version fixes. */
  reads_newest: boolean().withDefault(),
  state: text<TurnState>(),
  request: json<TurnRequest>(),
  origin: text<TurnOrigin>(),
  message_id: text(),
  reply_message_id: text(),
  history_until: text().nullable(),
  base_summary: text().nullable(),
  base_from: text().nullable(),
  fence: text(),
  active_ms: count().withDefault(),
  reply_text: text().nullable(),
  reply_data: json().nullable(),
  reply_is_cut: boolean().withDefault(),
  acknowledgement: text().nullable(),
  task_id: text().nullable(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  /** Servers whose tools were unavailable. */
  missing_tools: json<MissingTool[]>().nullable(),
  created_at: moment().withDefault(),
  settled_at: moment().nullable(),
});

export type Progress = { content: string; status: 'pending' | 'in_progress' | 'completed' }[];

export const tasks = table('tasks', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  conversation_id: text(),
  turn_id: text(),
  user_id: text().nullable(),
  deployment_id: text(),
  deployment_version: integer(),
  status: text<(typeof taskStatuses)[number]>(),
  title: text().nullable(),
  /** The message that started it. Older rows do not have it. */
  ask: text().nullable(),
  brief: text().nullable(),
  progress: json<Progress>().withDefault(),
  result_text: text().nullable(),
  result_data: json().nullable(),
  result_is_cut: boolean().withDefault(),
  outcome_met: boolean().nullable(),
  outcome_reason: text().nullable(),
  /** How often the result was judged. Set while the task continues after "not met", like the result and the reason. */
  outcome_rounds: integer().nullable(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  missing_tools: json<MissingTool[]>().nullable(),
  is_hidden: boolean().withDefault(),
  fence: text(),
  active_ms: count().withDefault(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const runSteps = table('run_steps', {
  run_id: text(),
  step_index: integer(),
  kind: text<'model' | 'summary' | 'judge' | 'stopped' | 'failed'>(),
  text: text(),
  notice: text().nullable(),
  covers: integer().nullable(),
  is_cut: boolean().withDefault(),
  reasoning: json<Reasoning>().nullable(),
  model: text(),
  input_tokens: integer(),
  output_tokens: integer(),
  cache_read_tokens: integer(),
  cache_write_tokens: integer().withDefault(),
  cost_micros: micros(),
  started_at: moment(),
  created_at: moment().withDefault(),
});

export const runCalls = table('run_calls', {
  run_id: text(),
  step_index: integer(),
  position: integer(),
  id: text(),
  name: text(),
  arguments: json(),
  started_at: moment().nullable(),
  output: text().nullable(),
  is_error: boolean().nullable(),
  result_from: text<'tool' | 'person' | 'run'>().nullable(),
  finished_at: moment().nullable(),
  media: json<StoredMedia[]>().nullable(),
  /** The handle by which the tool is polled, if the tool continues on its own. */
  under_way: jsonb<unknown>().nullable(),
  /** The documents, notebooks and skills in the output. Null for other tools, and for calls before this column. */
  sources: textArray().nullable(),
  /** The passages in the output, with their marks. Null: it shows none. */
  passages: jsonb<CitedPassage[]>().nullable(),
  created_at: moment().withDefault(),
});

/** Messages of a user to a running task. */
export const workNotes = table('work_notes', {
  task_id: text(),
  id: text(),
  text: text(),
  /** The number of steps when the task read the note; null if it has not read it. */
  step_index: integer().nullable(),
  created_at: moment().withDefault(),
});

/** An image or a recording in a tool result. */
export type StoredMedia = {
  file_id: string;
  media_type: string;
  bytes: number;
  width: number | null;
  height: number | null;
};

export const interactions = table('interactions', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  user_id: text().nullable(),
  conversation_id: text(),
  turn_id: text(),
  task_id: text().nullable(),
  run_id: text(),
  call_id: text().nullable(),
  purpose: text<'permission' | 'connection' | 'input' | 'answer'>().nullable(),
  /** State with which a call continues after an answer. It is never shown. */
  kept: json<unknown>().nullable(),
  kind: text<(typeof interactionKinds)[number]>(),
  type: text<'approval' | 'question' | 'connect' | 'handoff' | 'tool_call'>(),
  status: text<'pending' | 'resolved' | 'cancelled' | 'expired'>(),
  summary: text(),
  moves_money: boolean().nullable(),
  requires_present_user: boolean(),
  approver: text<'user' | 'org'>().withDefault(),
  nonce: text().nullable(),
  questions: json<Question[]>().nullable(),
  browser: json<{ suggested_mode: 'control'; url: string | null }>().nullable(),
  details: json<Record<string, unknown>>(),
  decision: text<'approved' | 'denied' | 'answered' | 'cancelled' | 'expired'>().nullable(),
  answers: json<string[]>().nullable(),
  reason: text().nullable(),
  message: text().nullable(),
  output: text().nullable(),
  is_error: boolean().nullable(),
  is_hidden: boolean().withDefault(),
  /** Of a function call: its deployment, the worker that took it, and its progress. */
  deployment_id: text().nullable(),
  taken_by: text().nullable(),
  taken_until: moment().nullable(),
  attempts: integer().withDefault(),
  progress: text().nullable(),
  created_at: moment().withDefault(),
  expires_at: moment().nullable(),
  resolved_at: moment().nullable(),
});

/** Apart from the interactions, so that lists do not read the images. */
export const interactionFrames = table('interaction_frames', {
  org_id: text(),
  mode: text<Mode>(),
  interaction_id: text(),
  frame: text(),
});

type Question = { question: string; header: string; options: string[]; multi_select: boolean };

export type ConversationRow = RowOf<typeof conversations>;
export type MessageRow = RowOf<typeof messages>;
export type TurnRow = RowOf<typeof turns>;
export type TaskRow = RowOf<typeof tasks>;
export type StepRow = RowOf<typeof runSteps>;
export type CallRow = RowOf<typeof runCalls>;
export type InteractionRow = RowOf<typeof interactions>;

/** The subject of a run: the reply of a turn, or the task of a turn if `task` is set. */
export type RunSubject = { turn: TurnRow; task: TaskRow | null };
