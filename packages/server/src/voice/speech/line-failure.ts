/** A call could not be begun. `sdp`: what the browser sent is no offer of sound. */
export class LineFailure extends Error {
  override readonly name = 'LineFailure';
  readonly reason: 'sdp' | 'process';

  constructor(reason: 'sdp' | 'process', message: string) {
    super(message);
    this.reason = reason;
  }
}
