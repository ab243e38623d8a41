import { VestraError } from '@vestra/sdk/errors';
import type { Words } from './words/en.ts';

/** Error kinds with translated messages. The API's messages are English and technical. */
export type Trouble = Extract<keyof Words, 'unreachable' | 'tooFast' | 'notAvailable' | 'tooLong' | 'wrong'>;

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof VestraError)) return 'wrong';
  const { status } = error;
  if (status === 0 || status === 502 || status === 504) return 'unreachable';
  if (status === 413) return 'tooLong';
  if (status === 429) return 'tooFast';
  return status === 402 || status === 403 || status === 503 ? 'notAvailable' : 'wrong';
}
