import { StartFailure } from '../platform/db/start-failure.ts';

/** The command line is wrong. The exit code is 2, as in the rest of the CLI. */
export class Misuse extends StartFailure {}

export function misuseOf<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}
