import type { AGUIEvent, Interrupt } from '@ag-ui/core';
import type { agUi } from '@vestra/contract/ag-ui';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import type { Interaction } from '@vestra/sdk/resources';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, latestAnswerTo, noteTalk } from '../../integrations/index.ts';
import { type EdgeRequest, type HandleRequest, readServiceUser } from '../api-client.ts';
import {
  type AnswerPiece,
  answerPieces,
  type ChatAnswer,
  followAnswer,
  saveAnswer,
  wordsFor,
} from '../chat-translation/answer.ts';
import { type ChatExchange, type StartedTurn, startTurn } from '../chat-translation/exchange.ts';
import { frame, openExchanges, streamPieces } from '../chat-translation/open-exchange.ts';
import {
  bytesOfBase64,
  type ChatLine,
  type ChatQuestion,
  callerTools,
  digestOf,
  type InlineFile,
  type InteractionAnswer,
} from '../chat-translation/question.ts';
import type { HoldOpen } from '../event-stream.ts';
import { apiRefusalOf, asFailure } from '../refusal.ts';

type Dependencies = { answer: HandleRequest; hold: HoldOpen; engine: Engine };

type RunRequest = EdgeRequest & { params: { deployment_id: string } };

export function agUiEndpoint({ answer, hold, engine }: Dependencies) {
  const { db } = engine;
  const withExchange = openExchanges({ answer, hold, engine, asFailure });

  return withExchange<RunRequest>(async ({ params, headers, body, caller }, held) => {
    const input = body as RunInput;
    const { id: deploymentId } = await requireDeployment(db, caller.orgId, params.deployment_id);
    const of = { deploymentId, user: readServiceUser(headers) };
    const question = readRun(input, of);
    const requestDigest = digestOf([
      'run',
      caller.actor.id,
      deploymentId,
      of.user ?? null,
      input.threadId,
      input.runId,
    ]);
    const before = await latestAnswerTo(db, caller, requestDigest);
    const { row, events } = before
      ? { row: before, events: followAnswer(held.exchange, before) }
      : await startOnce(held.exchange, question, requestDigest);
    if (!before) await noteTalk(db, row, threadDigest(of, input.threadId));
    const writing = runEvents(row, input);
    const frames = (written: ReturnType<typeof writing.begin>) => written.map(frame);
    return streamPieces(held, answerPieces(held.exchange, row, events), {
      begin: () => frames(writing.begin()),
      piece: (piece) => frames(writing.piece(piece)),
      end: async (answered) => frames(writing.end(answered)),
      fail: (error) => {
        const { code, message } = apiRefusalOf(error, held.requestId);
        return frame({ type: 'RUN_ERROR', code, message });
      },
    });
  });

  /** A repeated run is the run that it repeats, even if both arrive at once. */
  async function startOnce(
    exchange: ChatExchange,
    question: ChatQuestion,
    requestDigest: string,
  ): Promise<{ row: ClientAnswer; events: StartedTurn['events'] }> {
    const idempotencyKey = exchange.idempotencyKey ?? `ag-ui.${requestDigest}`;
    const started = await startTurn({ ...exchange, idempotencyKey }, question);
    const of = { ...started, kind: 'run_' as const, isKept: false, requestDigest, model: question.model ?? '' };
    return { row: await saveAnswer(db, exchange, question, of), events: started.events };
  }
}

type RunInput = BodyOf<(typeof agUi)['run']>;
type Message = RunInput['messages'][number];
type UserMessage = Extract<Message, { role: 'user' }>;
type Content = UserMessage['content'];

/** A thread is a conversation. The client sends all messages; the conversation knows which ones are new. */
function readRun(input: RunInput, of: { deploymentId: string; user: string | undefined }): ChatQuestion {
  const { messages, tools, context, resume = [], threadId } = input;
  const answered = messages.findLastIndex(({ role }) => role !== 'user' && role !== 'tool' && !isOfSystem(role));
  const fresh = messages.slice(answered + 1);
  const said = fresh.filter((each): each is UserMessage => each.role === 'user');
  const toolResults = fresh.flatMap((each) => {
    if (each.role !== 'tool') return [];
    const { toolCallId: call_id, error, content } = each as Extract<Message, { role: 'tool' }>;
    return [error ? { call_id, error } : { call_id, output: textOf(content) }];
  });
  if (said.length === 0 && toolResults.length === 0 && resume.length === 0) {
    throw fail('invalid_request', {
      param: 'messages',
      message:
        'Nothing is asked: the last message must be the user’s or a tool’s, or `resume` must answer an interrupt.',
    });
  }
  const system = messages.flatMap((each) =>
    isOfSystem(each.role) ? [String((each as { content: string }).content)] : [],
  );
  const facts = context.map(({ description, value }) => `${description}: ${value}`);
  return {
    model: of.deploymentId,
    user: of.user,
    message: said.map(({ content }) => textOf(content)).join('\n\n'),
    files: said.flatMap(({ content }) => filesOf(content)),
    fileIds: said.flatMap(({ content }) => fileIdsOf(content)),
    toolResults,
    answers: resume.map(readAnswer),
    earlier: messages.slice(0, answered + 1).flatMap(saidIn),
    system: [...system, ...facts].join('\n\n'),
    tools: callerTools(tools),
    outputSchema: undefined,
    metadata: undefined,
    previous: undefined,
    conversation: undefined,
    match: { digest: threadDigest(of, threadId), isWhole: false },
  };
}

/** Two deployments or users never share a thread. */
const threadDigest = ({ deploymentId, user }: { deploymentId: string; user: string | undefined }, threadId: string) =>
  digestOf(['ag-ui', deploymentId, user ?? null, threadId]);

const isOfSystem = (role: Message['role']) => role === 'system' || role === 'developer';

function saidIn(message: Message): ChatLine[] {
  if (message.role === 'user') return [{ role: 'user', text: textOf((message as UserMessage).content) }];
  if (message.role !== 'assistant') return [];
  const text = (message as { content?: string | null }).content ?? '';
  return text === '' ? [] : [{ role: 'assistant', text }];
}

const textOf = (content: Content): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n\n');

const sourcesIn = (content: Content) =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => ('source' in part && part.type !== 'text' ? [part.source as Source] : []));

type Source = { type: 'data'; value: string; mimeType: string } | { type: 'file'; value: string };

const fileIdsOf = (content: Content): string[] =>
  sourcesIn(content).flatMap((source) => (source.type === 'file' ? [source.value] : []));

const filesOf = (content: Content): InlineFile[] =>
  sourcesIn(content).flatMap((source, at) => {
    if (source.type !== 'data') return [];
    const ending = source.mimeType.split(/[/+;]/)[1] ?? 'bin';
    const bytes = bytesOfBase64(source.value);
    return [{ filename: `file-${at + 1}.${ending}`, mediaType: source.mimeType, bytes }];
  });

/** The payload matches the `responseSchema` of the interrupt. */
function readAnswer({ interruptId: id, status, payload }: NonNullable<RunInput['resume']>[number]): InteractionAnswer {
  if (status === 'cancelled') return { id, answer: 'cancel' };
  if (typeof payload === 'boolean') return { id, answer: { approve: payload } };
  if (typeof payload === 'string') return { id, answer: { answers: [payload] } };
  return { id, answer: (payload ?? {}) as Exclude<InteractionAnswer['answer'], string> };
}

/** Event types as literals, because the protocol package is a development dependency. */
type OnWire<Event> = Event extends { type: infer Type extends string }
  ? Omit<Event, 'type'> & { type: `${Type}` }
  : never;
type RunEvent = OnWire<AGUIEvent>;

function runEvents(row: ClientAnswer, { threadId, runId, state }: Pick<RunInput, 'threadId' | 'runId' | 'state'>) {
  let messages = 0;
  let open: string | null = null;

  function close(): RunEvent[] {
    if (open === null) return [];
    const messageId = open;
    open = null;
    return [{ type: 'TEXT_MESSAGE_END', messageId }];
  }

  function say(delta: string): RunEvent[] {
    const started: RunEvent[] = [];
    if (open === null) {
      open = `${row.id}-${++messages}`;
      started.push({ type: 'TEXT_MESSAGE_START', messageId: open, role: 'assistant' });
    }
    return [...started, { type: 'TEXT_MESSAGE_CONTENT', messageId: open, delta }];
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
    piece(piece: AnswerPiece): RunEvent[] {
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
    end(answered: ChatAnswer): RunEvent[] {
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

function outcomeOf({ pieces, state }: ChatAnswer): Outcome {
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

/** The schema of an answer by interaction type. Connecting an app needs no answer. */
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
