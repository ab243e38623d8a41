import {
  A2A_PROTOCOL_VERSION,
  A2A_VERSION_HEADER,
  formatSSEErrorEvent,
  formatSSEEvent,
  type StreamResponse,
} from '@a2a-js/sdk';
import {
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { requireDeployment } from '../../agents/deployments/index.ts';
import { findTurn } from '../../engine/conversations/index.ts';
import type { Engine } from '../../engine/index.ts';
import { countTasks, stopOneTask } from '../../engine/tasks/index.ts';
import {
  apiClientFor,
  type EdgeRequest,
  type HandleRequest,
  idempotencyKeyOf,
  readServiceUser,
} from '../api-client.ts';
import { type HoldOpen, streamEvents } from '../event-stream.ts';
import { type ApiRefusal, apiRefusalOf, asCutShort, isServerFault } from '../refusal.ts';
import {
  type A2aExchange,
  type CountTasks,
  cancelReply,
  isReplyTask,
  listTasks,
  ownConversation,
  ownTask,
  ownTurn,
  showReplyTask,
  showTask,
} from './exchange.ts';
import { outcomeOf, streamOf, subscriptionTo, subscriptionToReply } from './message-outcome.ts';
import { eventsAfter, sendMessage } from './send-message.ts';
import { contextOf, isOver } from './task.ts';

type A2aDependencies = {
  answer: HandleRequest;
  hold: HoldOpen;
  engine: Engine;
  linkTo: (fileId: string) => string;
  log: Logger;
};

type A2aRequest = EdgeRequest & { params: { deployment_id: string } };

type JsonRpcAnswer = { jsonrpc: string; id: string | number | null; result?: unknown; error?: unknown };

/**
 * JSON-RPC, version 1.0 of the protocol. HTTP-level refusals use the API's errors; refusals of a method use JSON-RPC
 * errors.
 */
export function a2aEndpoint({ answer, hold, engine, linkTo, log }: A2aDependencies) {
  return async (incoming: A2aRequest): Promise<Response> => {
    const { caller, params, headers, requestId } = incoming;
    const userId = readServiceUser(headers) ?? null;
    const deployment = await requireDeployment(engine.db, caller.orgId, params.deployment_id);
    const request = isRecord(incoming.body) ? incoming.body : {};
    const asProtocolError = (thrown: unknown) => {
      if (thrown instanceof A2AError) return thrown;
      const error = asCutShort(thrown, held.signal);
      if (isServerFault(error)) log.error({ request_id: requestId, err: error }, 'a2a failed');
      return protocolErrorOf(error, requestId);
    };
    const errorAnswer = (thrown: unknown): JsonRpcAnswer => ({
      jsonrpc: '2.0',
      id: idOf(request),
      error: JsonRpcTransportHandler.mapToJSONRPCError(asProtocolError(thrown)),
    });

    const gone = new AbortController();
    const held = hold(caller, AbortSignal.any([incoming.signal, gone.signal]));
    const release = () => {
      gone.abort();
      held.close();
    };
    const methods = methodsFor({
      exchange: {
        client: apiClientFor(answer, { ...incoming, signal: held.signal }),
        idempotencyKey: idempotencyKeyOf(incoming),
        deploymentId: deployment.id,
        userId,
        linkTo,
        conversationOfTurn: async (turnId) => {
          const turn = await findTurn(engine.db, turnId);
          return turn?.org_id === caller.orgId && turn.mode === caller.mode ? turn.conversation_id : undefined;
        },
      },
      stopTask: (taskId) => stopOneTask(engine, caller, taskId),
      countTasks: (filter) => countTasks(engine.db, caller, filter),
      asProtocolError,
    });
    try {
      assertVersion(headers);
      const context = new ServerCallContext({ requestedVersion: A2A_PROTOCOL_VERSION });
      const answered = await new JsonRpcTransportHandler(methods).handle(request, context);
      if (Symbol.asyncIterator in answered) {
        return await streamEvents({
          answers: written(answered, held.signal),
          refuse: (error) => Response.json(errorAnswer(error)),
          lastWords: (error) => formatSSEErrorEvent(errorAnswer(error)),
          abandon: release,
        });
      }
      release();
      return Response.json(unreadable(answered) ? errorAnswer(new RequestMalformedError()) : answered);
    } catch (error) {
      const refused = errorAnswer(error);
      release();
      return Response.json(refused);
    }
  };
}

async function* written(
  answers: AsyncGenerator<unknown>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  for await (const each of answers) yield formatSSEEvent(each);
  // The events of an aborted call end without an error. A restart has a reason that the client can act on.
  if (signal.reason instanceof Failure) throw signal.reason;
}

/** A client that names no version gets this one: the method names are unambiguous. */
function assertVersion(headers: Headers): void {
  const version = headers.get(A2A_VERSION_HEADER);
  if (version === null || version === '' || version === A2A_PROTOCOL_VERSION) return;
  throw new VersionNotSupportedError(`This agent speaks A2A ${A2A_PROTOCOL_VERSION}.`);
}

/** Our errors all carry data. An internal error without data means that the SDK could not read the parameters. */
function unreadable({ error }: JsonRpcAnswer): boolean {
  const { code, data } = (error ?? {}) as { code?: number; data?: unknown };
  return code === -32603 && data === undefined;
}

function idOf({ id }: Record<string, unknown>): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type MethodDependencies = {
  exchange: A2aExchange;
  stopTask: (taskId: string) => Promise<void>;
  countTasks: CountTasks;
  asProtocolError: (thrown: unknown) => Error;
};

/** The methods of the protocol. The SDK reads and writes the JSON; no state is stored here. */
function methodsFor({ exchange, stopTask, countTasks, asProtocolError }: MethodDependencies): A2ARequestHandler {
  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw asProtocolError(error);
    }
  };
  const streamed = async function* (work: () => AsyncGenerator<StreamResponse, void, undefined>) {
    try {
      yield* work();
    } catch (error) {
      throw asProtocolError(error);
    }
  };
  const noPush = () => Promise.reject(new PushNotificationNotSupportedError());
  const noCard = () => Promise.reject(new UnsupportedOperationError('The agent card has a separate address.'));

  return {
    sendMessage: (request) =>
      told(async () => {
        const { returnImmediately = false, historyLength } = request.configuration ?? {};
        return outcomeOf(exchange, await sendMessage(exchange, request), { returnImmediately, historyLength });
      }),
    sendMessageStream: (request) =>
      streamed(async function* () {
        yield* streamOf(exchange, await sendMessage(exchange, request));
      }),
    getTask: ({ id, historyLength }) =>
      told(async () =>
        isReplyTask(id)
          ? showReplyTask(exchange, await ownTurn(exchange, id), { historyLength })
          : showTask(exchange, await ownTask(exchange, id), { historyLength }),
      ),
    listTasks: (request) => told(() => listTasks(exchange, request, countTasks)),
    cancelTask: ({ id }) =>
      told(async () => {
        const turn = isReplyTask(id) ? await ownTurn(exchange, id) : null;
        if (turn && turn.task_id === null) {
          await cancelReply(exchange, turn);
          return showReplyTask(exchange, await ownTurn(exchange, id));
        }
        const task = await ownTask(exchange, turn?.task_id ?? id);
        if (isOver(task)) throw new TaskNotCancelableError(`The task ${task.id} has ended.`);
        await stopTask(task.id);
        return { ...(await showTask(exchange, await ownTask(exchange, task.id))), id };
      }),
    resubscribe: ({ id }) =>
      streamed(async function* () {
        const turn = isReplyTask(id) ? await ownTurn(exchange, id) : null;
        if (turn && turn.task_id === null) {
          if (turn.settled_at !== null) throw new UnsupportedOperationError(`The task ${id} has ended.`);
          const conversation = await ownConversation(exchange, turn.conversation_id);
          const events = eventsAfter(exchange, conversation);
          return yield* subscriptionToReply(exchange, await ownTurn(exchange, id), events);
        }
        const before = await ownTask(exchange, turn?.task_id ?? id);
        // Read before the task, so that no event between the two is missed.
        const conversation = await ownConversation(exchange, contextOf(before));
        const task = await ownTask(exchange, before.id);
        if (isOver(task)) throw new UnsupportedOperationError(`The task ${task.id} has ended.`);
        const events = eventsAfter(exchange, conversation, task.id);
        yield* subscriptionTo(exchange, await showTask(exchange, task), events);
      }),
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
    getAgentCard: noCard,
    getAuthenticatedExtendedAgentCard: noCard,
  };
}

/** Maps every failure to an error of this protocol. Its data contains the API's error code. */
function protocolErrorOf(thrown: unknown, requestId: string): A2AError {
  const refusal = apiRefusalOf(thrown, requestId);
  const { code, type, message, param, request_id, retry_after_ms } = refusal;
  return new (kindOf(refusal))({
    message,
    metadata: {
      code,
      type,
      request_id,
      ...(param !== undefined && { param }),
      ...(retry_after_ms !== undefined && { retry_after_ms: String(retry_after_ms) }),
    },
  });
}

/** The protocol has one error for missing tasks and conversations. */
const absent = new Set(['task_not_found', 'invalid_task_id', 'conversation_not_found', 'invalid_conversation_id']);

function kindOf({
  code,
  type,
}: ApiRefusal): new (options: {
  message: string;
  metadata: Record<string, string>;
}) => A2AError {
  if (absent.has(code)) return TaskNotFoundError;
  if (code === 'unsupported_media_type') return ContentTypeNotSupportedError;
  if (type === 'invalid_request' || type === 'not_found') return RequestMalformedError;
  if (type === 'conflict' || type === 'permission' || type === 'cap_reached') return UnsupportedOperationError;
  return A2AError;
}
