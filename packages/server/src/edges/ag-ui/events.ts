import type { AGUIEvent, Interrupt } from '@ag-ui/core';
import type { Interaction } from '@vestra/sdk/resources';
import type { ClientAnswer } from '../../integrations/index.ts';
import type { Answered } from '../chat-translation/answer.ts';
import { type Piece, wordsFor } from '../chat-translation/pieces.ts';
import type { RunInput } from './read-run.ts';

/** By their values on the wire: the package of the protocol is loaded by its clients alone. */
type OnWire<Event> = Event extends { type: infer Type extends string }
  ? Omit<Event, 'type'> & { type: `${Type}` }
  : never;
export type RunEvent = OnWire<AGUIEvent>;

/** The events of one run. */
export function runEvents(
  row: ClientAnswer,
  { threadId, runId, state }: Pick<RunInput, 'threadId' | 'runId' | 'state'>,
) {
  let messages = 0;
  let open: string | null = null;

  function close(): RunEvent[] {
    if (open === null) return [];
    const messageId = open;
    open = null;
    return [{ type: 'TEXT_MESSAGE_END', messageId }];
  }

  function say(delta: string): RunEvent[] {
    const begun: RunEvent[] = [];
    if (open === null) {
      open = `${row.id}-${++messages}`;
      begun.push({ type: 'TEXT_MESSAGE_START', messageId: open, role: 'assistant' });
    }
    return [...begun, { type: 'TEXT_MESSAGE_CONTENT', messageId: open, delta }];
  }

  return {
    begin(): RunEvent[] {
      const own = { conversation_id: row.conversation_id, turn_id: row.turn_id };
      const given = typeof state === 'object' && state !== null && !Array.isArray(state) ? state : {};
      return [
        { type: 'RUN_STARTED', threadId, runId },
        { type: 'STATE_SNAPSHOT', snapshot: { ...given, vestra: own } },
      ];
    },
    piece(piece: Piece): RunEvent[] {
      if (piece.kind === 'text') return say(piece.text);
      if (piece.kind === 'progress') {
        const { taskId: messageId, title, progress } = piece;
        const content = { title, progress };
        return [...close(), { type: 'ACTIVITY_SNAPSHOT', messageId, activityType: 'WORK', content, replace: true }];
      }
      if (piece.kind !== 'call') return close();
      const { id: toolCallId, name: toolCallName, arguments: delta } = piece;
      return [
        ...close(),
        { type: 'TOOL_CALL_START', toolCallId, toolCallName },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta },
        { type: 'TOOL_CALL_END', toolCallId },
      ];
    },
    end(answered: Answered): RunEvent[] {
      const { turn, state: ended, used } = answered;
      const usage = [
        {
          inputTokens: used.input,
          cachedInputTokens: used.cached,
          outputTokens: used.output,
          totalTokens: used.input + used.output,
        },
      ];
      if (ended === 'failed') {
        const { code = 'internal_error', message = 'The turn has failed.' } = turn?.error ?? {};
        return [...close(), { type: 'RUN_ERROR', code, message, usage }];
      }
      return [...close(), { type: 'RUN_FINISHED', threadId, runId, outcome: outcomeOf(answered), usage }];
    },
  };
}

type Outcome = NonNullable<Extract<RunEvent, { type: 'RUN_FINISHED' }>['outcome']>;

function outcomeOf({ pieces, state }: Answered): Outcome {
  if (state === 'stopped') return { type: 'cancelled' };
  const interrupts = pieces.flatMap((piece) =>
    piece.kind === 'approval' || piece.kind === 'wait' ? [interruptOf(piece.interaction)] : [],
  );
  if (interrupts.length > 0) return { type: 'interrupt', interrupts };
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.id] : []));
  return { type: 'success', ...(calls.length > 0 && { pendingToolCallIds: calls }) };
}

const object = (properties: Record<string, unknown>, required: string[]) => ({ type: 'object', properties, required });
const yes = {
  approve: { type: 'boolean' },
  present_user: { type: 'boolean', description: 'A person who is there said it.' },
};

/** What an answer to each type holds. An app is connected, and not answered. */
const schemas: Partial<Record<Interaction['type'], Record<string, unknown>>> = {
  approval: object(yes, ['approve']),
  question: object({ answers: { type: 'array', items: { type: 'string' }, description: 'One for each question.' } }, [
    'answers',
  ]),
  handoff: object({ decision: { enum: ['done', 'could_not', 'not_now'] } }, ['decision']),
};

function interruptOf(interaction: Interaction): Interrupt {
  const { id, type, kind, summary, details, questions, expires_at } = interaction;
  const schema = schemas[type];
  return {
    id,
    reason: type,
    message: type === 'approval' ? summary : wordsFor(interaction),
    ...(schema && { responseSchema: schema }),
    ...(expires_at !== null && { expiresAt: expires_at }),
    metadata: { kind, details, ...(questions && { questions }) },
  };
}
