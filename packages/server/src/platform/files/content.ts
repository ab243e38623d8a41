import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Content, FileStore, KeptFile } from './file-store.ts';

export const isHash = (name: string) => /^[0-9a-f]{64}$/.test(name);

/**
 * The parts of a path or key, or nothing at all: a name that could lead out of its org's folder was never ours. The
 * first two characters come between, so that no folder grows too large to list.
 */
export function partsOf(orgId: string, name: string): [string, string, string] {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(orgId) || !isName(name)) throw new Error('That is no name of stored content.');
  return [orgId, name.slice(0, 2), name];
}

export const isName = (name: string) => /^[a-z0-9]{4,100}(\.[a-z]{1,20})?$/.test(name);

/** Passes the content on and counts it; `kept` is known at its end. */
export function counted(content: Content): { chunks: AsyncIterable<Uint8Array>; kept: () => KeptFile } {
  const digest = createHash('sha256');
  let bytes = 0;
  async function* pass() {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) {
      digest.update(chunk);
      bytes += chunk.byteLength;
      yield chunk;
    }
  }
  return { chunks: pass(), kept: () => ({ sha256: digest.digest('hex'), bytes }) };
}

/** What goes under a hash must have it: a file would otherwise be shown as another one's content. */
export function assertNamed(name: string, { sha256 }: KeptFile): void {
  if (isHash(name) && name !== sha256) throw new Error(`What was to be kept as ${name} has another hash.`);
}

/** What was put is not what is there. */
export class DamagedContent extends Error {
  override readonly name = 'DamagedContent';
}

/** The last chunk is held back until the whole is known to be what its name says: a reader of damaged content ends short. */
export async function* checked(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!isHash(name)) return yield* chunks;
  const digest = createHash('sha256');
  let last: Uint8Array | null = null;
  for await (const chunk of chunks) {
    digest.update(chunk);
    if (last) yield last;
    last = chunk;
  }
  if (digest.digest('hex') !== name)
    throw new DamagedContent(`What is kept as ${name} is damaged: it has another hash.`);
  if (last) yield last;
}

export async function readWhole(store: Pick<FileStore, 'open'>, orgId: string, name: string) {
  const opened = await store.open(orgId, name);
  if (!opened) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.chunks) chunks.push(chunk);
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

const again = { away: 5_000, full: 60_000 };

/** Neither is a fault of the request: it can be sent again. */
export const storeFailure = (what: keyof typeof again) =>
  fail('not_ready', {
    message:
      what === 'away'
        ? 'The file store is away. Try again shortly.'
        : 'The file store has no room left. It takes new files again when whoever runs this server has made room.',
    retry_after_ms: again[what],
  });
