/** The server cannot start, and the message is one sentence for the person who started it: `main.ts` prints it and exits 1. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
