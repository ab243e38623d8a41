import { ModelFailure } from '@vestra/agent/model';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';

/** Why something could not be played, in one of the words of the error catalogue. */
export function failureCode(log: Logger, error: unknown): string {
  if (error instanceof Failure) return error.code;
  if (error instanceof ModelFailure) return error.reason === 'timeout' ? 'timeout' : 'model_error';
  log.error({ err: error }, 'a test could not be played');
  return 'internal';
}
