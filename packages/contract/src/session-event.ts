import type { StreamEventType } from './events.ts';
import { fileSeen } from './files.ts';
import { interactionSeen } from './interactions.ts';
import { messageSeen } from './message.ts';
import { type SeenFields, shown } from './session-access.ts';
import { taskSeen } from './tasks.ts';
import { stepSeen } from './trace.ts';
import { turnSeen } from './turn.ts';

/** The visible part of each event type for a session. */
const dataSeen: Readonly<Record<StreamEventType, SeenFields>> = {
  'turn.started': { turn: turnSeen },
  'turn.settled': { turn: turnSeen },
  'turn.failed': { turn: turnSeen },
  'reply.delta': shown('text', 'message_id'),
  'reply.completed': { message: messageSeen },
  'task.started': { task: taskSeen },
  'task.progress': { title: true, progress: shown('content', 'status') },
  'task.step': { step: stepSeen },
  'task.completed': { task: taskSeen },
  'task.failed': { task: taskSeen },
  // The `message` of a stop is for operators.
  'task.stopped': { task: taskSeen, reason: true },
  'interaction.created': { interaction: interactionSeen },
  'interaction.resolved': { interaction: interactionSeen },
  'tool_call.created': { call: shown('call_id', 'name', 'task_id') },
  'tool_call.progress': shown('call_id', 'name', 'text'),
  'file.created': { file: fileSeen },
  'conversation.status': shown('status'),
  'tool_server.away': shown('server', 'reason', 'user_id'),
  'stream.closed': shown('reason'),
};

/** An event of a conversation's stream: every `seq` is present, even if its content is hidden. */
export const eventSeen = {
  always: {
    ...shown('object', 'id', 'type', 'seq', 'conversation_id', 'task_id', 'turn_id', 'deployment_id', 'created_at'),
    data: {},
  },
  byType: Object.fromEntries(Object.entries(dataSeen).map(([type, data]) => [type, { data }])),
};
