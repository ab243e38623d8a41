import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER, formatSSEErrorEvent, formatSSEEvent } from '@a2a-js/sdk';
import { A2AError, RequestMalformedError, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import { countTasks, stopOneTask } from '../../engine/tasks/index.ts';
import type { HoldOpen } from '../held-answer.ts';
import { type AnswerRequest, type EdgeRequest, idempotencyKeyOf, ownClient } from '../own-client.ts';
import { isUnforeseen, toldIfCutShort } from '../refusal.ts';
import { readServiceUser } from '../service-user.ts';
import { streamAnswer } from '../stream-answer.ts';
import { methodsFor } from './methods.ts';
import { protocolErrorOf } from './protocol-error.ts';

type A2aDependencies = {
  answer: AnswerRequest;
  hold: HoldOpen;
  engine: Engine;
  linkTo: (fileId: string) => string;
  log: Logger;
};

type A2aRequest = EdgeRequest & { params: { deployment_id: string } };

type JsonRpcAnswer = { jsonrpc: string; id: string | number | null; result?: unknown; error?: unknown };

/** JSON-RPC of the protocol's version 1.0. A refusal of the call itself is the API's; one of its content JSON-RPC's. */
export function a2aEndpoint({ answer, hold, engine, linkTo, log }: A2aDependencies) {
  return async (incoming: A2aRequest): Promise<Response> => {
    const { caller, params, headers, requestId } = incoming;
    const userId = readServiceUser(headers) ?? null;
    const deployment = await requireDeployment(engine.db, caller.orgId, params.deployment_id);
    const request = isRecord(incoming.body) ? incoming.body : {};
    const asProtocolError = (thrown: unknown) => {
      if (thrown instanceof A2AError) return thrown;
      const error = toldIfCutShort(thrown, held.signal);
      if (isUnforeseen(error)) log.error({ request_id: requestId, err: error }, 'a2a failed');
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
        client: ownClient(answer, { ...incoming, signal: held.signal }),
        idempotencyKey: idempotencyKeyOf(incoming),
        deploymentId: deployment.id,
        userId,
        linkTo,
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
        return await streamAnswer({
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
  // The events of an aborted call end without an error. A restart has a reason, which the client can act on.
  if (signal.reason instanceof Failure) throw signal.reason;
}

/** A client that names no version is taken to mean this one: the names of the methods leave no doubt. */
function assertVersion(headers: Headers): void {
  const version = headers.get(A2A_VERSION_HEADER);
  if (version === null || version === '' || version === A2A_PROTOCOL_VERSION) return;
  throw new VersionNotSupportedError(`This agent speaks A2A ${A2A_PROTOCOL_VERSION}.`);
}

/** Ours all carry data: an internal error without any comes from parameters that the SDK could not read. */
function unreadable({ error }: JsonRpcAnswer): boolean {
  const { code, data } = (error ?? {}) as { code?: number; data?: unknown };
  return code === -32603 && data === undefined;
}

function idOf({ id }: Record<string, unknown>): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
