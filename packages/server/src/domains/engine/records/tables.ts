import type { interactionKinds } from '@vestra/contract/interactions';
import type { messageRoles } from '@vestra/contract/message';
import type { MissingTool } from '@vestra/contract/missing-tools';
import type { Mode } from '@vestra/contract/route';
import type { taskStatuses } from '@vestra/contract/tasks';
import { bigint, boolean, integer, json, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { micros, moment } from '../../../db/columns.ts';
import type { ConversationStatus } from './conversation.ts';
import type { TurnOrigin, TurnRequest, TurnState } from './turn.ts';

export const conversations = pgTable('conversations', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  user_id: text(),
  deployment_id: text(),
  deployment_version: integer(),
  pinned_version: integer(),
  status: text().$type<ConversationStatus>().notNull().default('idle'),
  metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
  last_event_seq: bigint({ mode: 'number' }).notNull().default(0),
  turn_count: integer().notNull().default(0),
  queued_turns: integer().notNull().default(0),
  open_tasks: integer().notNull().default(0),
  open_interactions: integer().notNull().default(0),
  replying_turn_id: text(),
  is_hidden: boolean().notNull().default(false),
  summary: text(),
  summary_until: text(),
  memory_due_at: moment(),
  remembered_until: text(),
  created_at: moment().notNull().defaultNow(),
  last_active_at: moment().notNull().defaultNow(),
});

export const messages = pgTable(
  'messages',
  {
    conversation_id: text().notNull(),
    id: text().notNull(),
    turn_id: text().notNull(),
    turn_ordinal: integer().notNull(),
    task_id: text(),
    role: text().$type<(typeof messageRoles)[number]>().notNull(),
    text: text().notNull(),
    data: json(),
    context: json().$type<Record<string, unknown>>(),
    attachments: jsonb().$type<Attachment[]>().notNull().default([]),
    /** It ends where the model's answer ran into its limit of length. */
    is_cut: boolean().notNull().default(false),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.conversation_id, table.id] })],
);

export type Attachment = { file_id: string; filename: string };

export const turns = pgTable(
  'turns',
  {
    conversation_id: text().notNull(),
    ordinal: integer().notNull(),
    id: text().notNull(),
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    user_id: text(),
    deployment_id: text().notNull(),
    deployment_version: integer().notNull(),
    /** Of notebooks and skills the newest content, not what the version fixes. */
    reads_newest: boolean().notNull().default(false),
    state: text().$type<TurnState>().notNull(),
    request: json().$type<TurnRequest>().notNull(),
    origin: text().$type<TurnOrigin>().notNull(),
    message_id: text().notNull(),
    reply_message_id: text().notNull(),
    history_until: text(),
    base_summary: text(),
    base_from: text(),
    fence: text().notNull(),
    active_ms: bigint({ mode: 'number' }).notNull().default(0),
    reply_text: text(),
    reply_data: json(),
    reply_is_cut: boolean().notNull().default(false),
    acknowledgement: text(),
    task_id: text(),
    error_code: text(),
    error_message: text(),
    /** The servers whose tools it did without. */
    missing_tools: json().$type<MissingTool[]>(),
    created_at: moment().notNull().defaultNow(),
    settled_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.conversation_id, table.ordinal] })],
);

export type Progress = { content: string; status: 'pending' | 'in_progress' | 'completed' }[];

export const tasks = pgTable(
  'tasks',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    id: text().notNull(),
    conversation_id: text().notNull(),
    turn_id: text().notNull(),
    user_id: text(),
    deployment_id: text().notNull(),
    deployment_version: integer().notNull(),
    status: text().$type<(typeof taskStatuses)[number]>().notNull(),
    title: text(),
    brief: text(),
    progress: json().$type<Progress>().notNull().default([]),
    result_text: text(),
    result_data: json(),
    result_is_cut: boolean().notNull().default(false),
    outcome_met: boolean(),
    outcome_reason: text(),
    error_code: text(),
    error_message: text(),
    missing_tools: json().$type<MissingTool[]>(),
    is_hidden: boolean().notNull().default(false),
    fence: text().notNull(),
    active_ms: bigint({ mode: 'number' }).notNull().default(0),
    created_at: moment().notNull().defaultNow(),
    updated_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.id] })],
);

export const runSteps = pgTable(
  'run_steps',
  {
    run_id: text().notNull(),
    step_index: integer().notNull(),
    kind: text().$type<'model' | 'summary' | 'judge' | 'stopped' | 'failed'>().notNull(),
    text: text().notNull(),
    notice: text(),
    covers: integer(),
    is_cut: boolean().notNull().default(false),
    model: text().notNull(),
    input_tokens: integer().notNull(),
    output_tokens: integer().notNull(),
    cache_read_tokens: integer().notNull(),
    cache_write_tokens: integer().notNull().default(0),
    cost_micros: micros().notNull(),
    started_at: moment().notNull(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.step_index] })],
);

export const runCalls = pgTable(
  'run_calls',
  {
    run_id: text().notNull(),
    step_index: integer().notNull(),
    position: integer().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    arguments: json().notNull(),
    started_at: moment(),
    output: text(),
    is_error: boolean(),
    result_from: text().$type<'tool' | 'person' | 'run'>(),
    finished_at: moment(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.step_index, table.position] })],
);

export const interactions = pgTable(
  'interactions',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    id: text().notNull(),
    user_id: text(),
    conversation_id: text().notNull(),
    turn_id: text().notNull(),
    task_id: text(),
    run_id: text().notNull(),
    call_id: text(),
    purpose: text().$type<'permission' | 'connection' | 'answer'>(),
    kind: text().$type<(typeof interactionKinds)[number]>().notNull(),
    type: text().$type<'approval' | 'question' | 'connect' | 'handoff' | 'tool_call'>().notNull(),
    status: text().$type<'pending' | 'resolved' | 'cancelled' | 'expired'>().notNull(),
    summary: text().notNull(),
    moves_money: boolean(),
    requires_present_user: boolean().notNull(),
    nonce: text(),
    questions: json().$type<Question[]>(),
    browser: json().$type<{ suggested_mode: 'control'; url: string | null }>(),
    details: json().$type<Record<string, unknown>>().notNull(),
    decision: text().$type<'approved' | 'denied' | 'answered' | 'cancelled' | 'expired'>(),
    answers: json().$type<string[]>(),
    reason: text(),
    message: text(),
    output: text(),
    is_error: boolean(),
    is_hidden: boolean().notNull().default(false),
    created_at: moment().notNull().defaultNow(),
    expires_at: moment(),
    resolved_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.id] })],
);

/** Beside the interactions and not on them: a picture is read alone and never in a list. */
export const interactionFrames = pgTable(
  'interaction_frames',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    interaction_id: text().notNull(),
    frame: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.interaction_id] })],
);

type Question = { question: string; header: string; options: string[]; multi_select: boolean };

export type ConversationRow = typeof conversations.$inferSelect;
export type MessageRow = typeof messages.$inferSelect;
export type TurnRow = typeof turns.$inferSelect;
export type TaskRow = typeof tasks.$inferSelect;
export type StepRow = typeof runSteps.$inferSelect;
export type CallRow = typeof runCalls.$inferSelect;
export type InteractionRow = typeof interactions.$inferSelect;
