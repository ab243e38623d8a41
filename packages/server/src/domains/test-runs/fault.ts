import { ModelFailure } from '@vestra/agent/model';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';

/** Why something could not be played: one of the words of the error catalogue, and a sentence where there is one. */
export type Fault = { code: string; message: string | null };

export function faultOf(log: Logger, error: unknown): Fault {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  if (error instanceof ModelFailure) {
    return { code: error.reason === 'timeout' ? 'timeout' : 'model_error', message: error.message };
  }
  log.error({ err: error }, 'a test could not be played');
  return { code: 'internal', message: null };
}
