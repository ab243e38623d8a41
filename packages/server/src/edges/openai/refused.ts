import { type ErrorCode, errorCatalogue, Failure, fail } from '@vestra/contract/errors';
import type { Turn } from '@vestra/sdk/resources';
import { asFailure, refusalOf } from '../refusal.ts';

/** A route's field, by the name that it has in the client's request. */
const paramNames: Readonly<Record<string, string>> = {
  message: 'input',
  deployment: 'model',
  user_id: 'user',
  output_schema: 'response_format',
  tool_results: 'input',
};

const howToBePresent =
  'This needs the yes of a person who is present: send `metadata: {"present_user": "true"}` if one gave it.';

const whatModelsAre = 'A model is a deployment here: GET /v1/openai/models lists them.';

/** A refusal of a route that was called on the way, with the client's own name of the field. */
export function asOwnFailure(thrown: unknown, requestId: string): unknown {
  const failure = asFailure(thrown, requestId);
  if (!(failure instanceof Failure) || failure === thrown) return failure;
  const { code, message, details } = failure;
  if (code === 'invalid_deployment') return fail(code, { param: 'model', message: `${message} ${whatModelsAre}` });
  if (code === 'present_user_required') return fail(code, { param: 'metadata', message: howToBePresent });
  const field = details.param?.split(/[.[]/)[0] ?? '';
  const param = paramNames[field] ?? details.param;
  return fail(code, { ...details, message, ...(param !== undefined && { param }) });
}

/** The error body that clients of OpenAI's API read. */
export const errorWords = (thrown: unknown, requestId: string) => {
  const { code, message, param = null } = refusalOf(thrown, requestId);
  return { message, type: 'server_error', param, code, request_id: requestId };
};

/** What a failed turn has done it has done: no client is to send it again by itself. */
export function failedTurn(turn: Turn | null): Response {
  const { code, message } = turn?.error ?? { code: 'internal_error', message: 'The turn has failed.' };
  const status = Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code as ErrorCode].status : 502;
  const error = { message, type: 'server_error', param: null, code };
  return Response.json({ error }, { status: Math.max(status, 400), headers: { 'x-should-retry': 'false' } });
}
