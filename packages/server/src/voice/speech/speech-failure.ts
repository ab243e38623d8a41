/** Speech could not be heard or made; the message is for the log and never for the person. */
export class SpeechFailure extends Error {
  override readonly name = 'SpeechFailure';
}
