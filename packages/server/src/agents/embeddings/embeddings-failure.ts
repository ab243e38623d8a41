export class EmbeddingsFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EmbeddingsFailure';
  }
}
