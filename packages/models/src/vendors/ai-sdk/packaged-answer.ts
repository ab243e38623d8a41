import type { IncomingHttpHeaders } from 'node:http';
import {
  AttemptFailed,
  ConnectionLost,
  type Fault,
  IdleTimeout,
  Unreadable,
  VendorError,
  vendorErrorOf,
  vendorErrorOfResponse,
} from '../fault.ts';
import { type JsonRecord, recordOf, textOf } from '../wires/json.ts';
import type { WireAnswer, WireRequest } from '../wires/wire.ts';
import { callOf } from './prompt.ts';
import { openPackagedModel, PackageFault, type ProviderPackage } from './provider-package.ts';
import { partReader } from './stream.ts';

export type PackagedModel = {
  package: ProviderPackage;
  modelId: string;
  apiKey: (() => string) | null;
  baseUrl: string | null;
};

export type ReadPackagedAnswer = (
  request: WireRequest,
  answer: WireAnswer,
  options: { signal: AbortSignal; idleTimeoutMs: number },
) => AsyncGenerator<string>;

/**
 * Reads answers of a model from an AI SDK provider package. The package is loaded by the first call. Its errors become
 * those of our own clients, so that retries, fallbacks and messages are the same.
 */
export function packagedAnswers({ package: from, modelId, apiKey, baseUrl }: PackagedModel): ReadPackagedAnswer {
  let opening: ReturnType<typeof openPackagedModel> | null = null;
  const open = () => {
    opening ??= openPackagedModel(from, modelId, { apiKey: apiKey?.() ?? null, baseUrl });
    return opening;
  };
  return async function* readAnswer(request, answer, { signal, idleTimeoutMs }) {
    const call = new AbortController();
    const idle = watchIdle(call, idleTimeoutMs);
    try {
      const { model, version } = await open();
      const { stream } = await model.doStream(callOf(request, version, AbortSignal.any([signal, call.signal])));
      const read = partReader(answer);
      for await (const part of stream) {
        idle.restart();
        read(part);
        const { text } = answer;
        answer.text = '';
        if (text !== '') yield text;
        if (answer.isOver) break;
      }
    } catch (error) {
      throw call.signal.aborted ? new IdleTimeout() : knownError(error, from.name);
    } finally {
      idle.stop();
      call.abort();
    }
  };
}

function watchIdle(call: AbortController, idleTimeoutMs: number) {
  let timer: NodeJS.Timeout;
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(() => call.abort(), idleTimeoutMs);
  };
  restart();
  return { restart, stop: () => clearTimeout(timer) };
}

function knownError(error: unknown, packageName: string): unknown {
  if (error instanceof VendorError || error instanceof Unreadable) return error;
  const fields = recordOf(error);
  if (error instanceof PackageFault) return lasting('unavailable', error.message);
  if (typeof fields.statusCode === 'number') return ofResponse(fields.statusCode, fields);
  switch (fields.name) {
    case 'AI_LoadAPIKeyError':
    case 'AI_LoadSettingError':
      return lasting(
        'unavailable',
        `The package ${packageName} has no key or setting that it needs: set api_key_env or options in its entry in VESTRA_MODELS_FILE.`,
      );
    case 'AI_NoSuchModelError':
      return new VendorError(404, '', [], null);
    case 'AI_UnsupportedFunctionalityError':
      return lasting('refused', `The package ${packageName} does not support ${textOf(fields.functionality)}.`);
    case 'AI_InvalidPromptError':
    case 'AI_InvalidArgumentError':
      return new VendorError(400, textOf(fields.message), [], null);
    case 'AI_JSONParseError':
    case 'AI_TypeValidationError':
    case 'AI_InvalidResponseDataError':
      return new Unreadable();
    case 'AI_APICallError':
    case 'AI_EmptyResponseBodyError':
    case 'TypeError':
      return new ConnectionLost();
  }
  // A stream reports the vendor's own error object.
  return error instanceof Error ? new ConnectionLost() : vendorErrorOf(error);
}

const ofResponse = (status: number, { responseHeaders, responseBody }: JsonRecord): VendorError =>
  vendorErrorOfResponse(status, recordOf(responseHeaders) as IncomingHttpHeaders, textOf(responseBody));

const lasting = (reason: Fault['reason'], message: string) =>
  new AttemptFailed({ reason, message, isPassing: false, retryAfterMs: null, status: null });
