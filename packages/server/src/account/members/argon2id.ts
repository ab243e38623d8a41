import crypto, { type Argon2Parameters } from 'node:crypto';
import { promisify } from 'node:util';

type Parameters = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism' | 'tagLength'> & {
  message: Buffer;
  nonce: Buffer;
};

/** By Node itself, in a thread, since 24.7; before that as WebAssembly, for some tens of milliseconds of the only one. */
export const argon2id: (parameters: Parameters) => Promise<Buffer> =
  typeof crypto.argon2 === 'function'
    ? (parameters) => promisify(crypto.argon2)('argon2id', parameters)
    : portableArgon2id;

export async function portableArgon2id(parameters: Parameters): Promise<Buffer> {
  // The library refuses an empty message, which is nobody's password.
  if (parameters.message.length === 0) return crypto.randomBytes(parameters.tagLength);
  const library = await import('hash-wasm');
  const tag = await library.argon2id({
    password: parameters.message,
    salt: parameters.nonce,
    iterations: parameters.passes,
    memorySize: parameters.memory,
    parallelism: parameters.parallelism,
    hashLength: parameters.tagLength,
    outputType: 'binary',
  });
  return Buffer.from(tag);
}
