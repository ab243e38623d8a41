import type { StreamedEvent } from './streamed-events.ts';

/** What the routes show of these, as far as the edges read it. */
export type ShownTurn = {
  id: string;
  conversation_id: string;
  status: 'replying' | 'working' | 'waiting' | 'settled' | 'failed' | 'stopped';
  reply: { text: string; data: unknown } | null;
  task_id: string | null;
  error: { code: string; message: string } | null;
};

export type ShownTask = {
  id: string;
  user_id: string | null;
  conversation_id: string;
  deployment_id: string | null;
  status: 'queued' | 'working' | 'waiting' | 'done' | 'failed';
  title: string | null;
  progress: { content: string; status: 'pending' | 'in_progress' | 'completed' }[];
  result: { text: string | null; data: unknown };
  outcome: { met: boolean; reason: string } | null;
  error: { code: string; message: string } | null;
  created_at: string;
  updated_at: string;
};

export type ShownInteraction = {
  id: string;
  user_id: string | null;
  task_id: string | null;
  conversation_id: string;
  kind: string;
  type: 'approval' | 'question' | 'connect' | 'handoff' | 'tool_call';
  status: 'pending' | 'resolved' | 'cancelled' | 'expired';
  summary: string;
  requires_present_user: boolean;
  questions?: { question: string; options: string[] }[];
  details: Record<string, unknown>;
};

export type ShownMessage = { id: string; task_id: string | null; role: 'user' | 'agent' | 'work'; text: string };

export type ShownFile = { id: string; filename: string | null; mime_type: string | null; task_id: string | null };

/** One event on the stream of a conversation. What its `data` holds depends on its type. */
export type ConversationEvent = StreamedEvent & {
  seq: number;
  conversation_id: string;
  task_id: string | null;
  turn_id: string | null;
  created_at: string;
  data: {
    turn?: ShownTurn;
    task?: ShownTask;
    interaction?: ShownInteraction;
    message?: ShownMessage;
    file?: ShownFile;
    text?: string;
    title?: string | null;
    progress?: ShownTask['progress'];
  };
};

/** Something that must be answered before the conversation goes on. A limit that ended work is told as settled. */
export const opensWait = ({ type, data }: ConversationEvent) =>
  type === 'interaction.created' && data.interaction?.status === 'pending';
