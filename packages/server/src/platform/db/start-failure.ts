/** The server cannot start. `main.ts` prints the message, one sentence for the operator, and exits with 1. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
