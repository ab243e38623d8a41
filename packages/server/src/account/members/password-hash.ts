import crypto, { type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP's first choice for argon2id. One check takes 19 MiB and some tens of milliseconds of a thread. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

/**
 * The hash is a PHC string, which contains its cost, so that hashes with an older cost stay readable. `beside` is
 * another hash of the same email. Both share one salt, so that one computation checks a password against all logins of
 * an email.
 */
export async function hashPassword(password: string, beside?: string): Promise<string> {
  const salt = beside === undefined ? randomBytes(saltBytes) : readPhcString(beside).salt;
  return phcString(salt, await argon2id({ ...cost, message: bytesOf(password), nonce: salt, tagLength: tagBytes }));
}

/**
 * Returns the hashes that match. Without any, it takes as long as one check, so that timing does not reveal unknown
 * emails.
 */
export async function matchingHashes(password: string, stored: readonly string[]): Promise<ReadonlySet<string>> {
  const bySalt = Map.groupBy(stored.length > 0 ? stored : [unmatchableHash], (hash) =>
    hash.slice(0, hash.lastIndexOf('$')),
  );
  const fitting = new Set<string>();
  for (const hashes of bySalt.values()) {
    const { salt, tag, ...storedCost } = readPhcString(hashes[0] as string);
    const derived = await argon2id({ ...storedCost, message: bytesOf(password), nonce: salt, tagLength: tag.length });
    for (const hash of hashes) if (isSameTag(derived, readPhcString(hash).tag)) fitting.add(hash);
  }
  return fitting;
}

const isSameTag = (derived: Buffer, tag: Buffer) => derived.length === tag.length && timingSafeEqual(derived, tag);

export const verifyPassword = async (password: string, stored: string): Promise<boolean> =>
  (await matchingHashes(password, [stored])).has(stored);

/** Matches no password and takes as long to check as any hash. */
export const unmatchableHash = phcString(randomBytes(saltBytes), randomBytes(tagBytes));

/** Two systems may send the same password as composed or decomposed characters. */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFC'), 'utf8');

function phcString(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function readPhcString(text: string) {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(text);
  if (!parts) throw new Error('A stored password hash is not an argon2id PHC string.');
  const [, memory, passes, parallelism, salt, tag] = parts as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

type Parameters = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism' | 'tagLength'> & {
  message: Buffer;
  nonce: Buffer;
};

/**
 * Node 24.7 and newer hash in a thread. Older versions use WebAssembly, which blocks the event loop for tens of
 * milliseconds.
 */
const argon2id: (parameters: Parameters) => Promise<Buffer> =
  typeof crypto.argon2 === 'function'
    ? (parameters) => promisify(crypto.argon2)('argon2id', parameters)
    : portableArgon2id;

export async function portableArgon2id(parameters: Parameters): Promise<Buffer> {
  // The library rejects an empty message. No password is empty, so a random tag is right.
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
