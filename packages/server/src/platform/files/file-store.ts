import { createHash, randomBytes } from 'node:crypto';
import { access, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '@vestra/contract/errors';

/**
 * Stores bytes under a name, separated by org, so that no org can find out what another has stored. There is an
 * implementation for a folder and one for an S3-compatible bucket.
 *
 * The content of a file is stored under its SHA-256 hash (64 hex digits). It never changes, it is stored once, and it
 * is compared with its name when it is written or read as a whole. Other names, such as those of saved homes, are
 * chosen by the code that writes them. Names never come from a caller.
 *
 * A store that is unreachable or full fails with `not_ready` and a message that says which.
 */
export type FileStore = {
  /** Writes all or nothing. When it resolves, the content survives a power cut. */
  put: (orgId: string, name: string, content: Content) => Promise<StoredContent>;
  /**
   * Returns null if the name does not exist. Read the chunks to the end or return the iterator, as `for await` does.
   */
  open: (orgId: string, name: string, range?: Range) => Promise<Opened | null>;
  /** Reads small content as a whole. Returns null if the name does not exist. */
  read: (orgId: string, name: string) => Promise<Uint8Array | null>;
  has: (orgId: string, name: string) => Promise<boolean>;
  /** Has no effect if the name does not exist. */
  remove: (orgId: string, name: string) => Promise<void>;
  /**
   * Everything in the store, of all orgs, in no order. It may or may not include what is added or removed meanwhile.
   */
  list: () => AsyncIterable<ListedFile>;
  /** A temporary address for downloading the content; null if only the server reads the store. */
  link: (orgId: string, name: string, as: Download) => string | null;
};

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Describes the whole content. */
export type StoredContent = { sha256: string; bytes: number };

/** Byte offsets from 0, both included. */
export type Range = { first: number; last: number };

/** `bytes` is the size of the whole content, even if the chunks are a range. */
type Opened = { bytes: number; chunks: AsyncIterable<Uint8Array> };

export type ListedFile = { orgId: string; name: string; bytes: number };

type Download = { filename: string; mediaType: string; seconds: number };

export const isHash = (name: string) => /^[0-9a-f]{64}$/.test(name);

/**
 * The parts of a path or key. It throws for names that could lead out of the org's folder. The first two characters are
 * a folder, so that no folder grows too large to list.
 */
export function partsOf(orgId: string, name: string): [string, string, string] {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(orgId) || !isName(name)) throw new Error('That is no name of stored content.');
  return [orgId, name.slice(0, 2), name];
}

export const isName = (name: string) => /^[a-z0-9]{4,100}(\.[a-z]{1,20})?$/.test(name);

/** Passes the content on while hashing it. Call `kept` when the chunks are read. */
export function hashWhileReading(content: Content): { chunks: AsyncIterable<Uint8Array>; kept: () => StoredContent } {
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

/** Content must match the hash it is stored under. Otherwise a file would show the content of another. */
export function assertHashMatches(name: string, { sha256 }: StoredContent): void {
  if (isHash(name) && name !== sha256) throw new Error(`The content to store as ${name} has another hash.`);
}

/** The stored content does not match its name. */
export class DamagedContent extends Error {
  override readonly name = 'DamagedContent';
}

/** Holds the last chunk back until the hash is verified, so that a reader of damaged content never gets all of it. */
export async function* verifyWhileReading(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!isHash(name)) return yield* chunks;
  const digest = createHash('sha256');
  let last: Uint8Array | null = null;
  for await (const chunk of chunks) {
    digest.update(chunk);
    if (last) yield last;
    last = chunk;
  }
  if (digest.digest('hex') !== name)
    throw new DamagedContent(`The stored file ${name} is damaged: it has another hash.`);
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

type StoreFault = keyof typeof again;

const faults = new WeakMap<object, StoreFault>();

/** The caller can send the request again: neither is a fault of the request. */
export function storeFailure(what: StoreFault) {
  const failure = fail('not_ready', {
    message:
      what === 'away'
        ? 'The file store is unreachable. Try again shortly.'
        : 'The file store has no room left. The operator of this server must free some space.',
    retry_after_ms: again[what],
  });
  faults.set(failure, what);
  return failure;
}

/** The reason of an error that `storeFailure` created; null for any other. */
const storeFaultOf = (error: unknown): StoreFault | null => faults.get(error as object) ?? null;

/** Stores content in a folder as `<org>/<first two characters>/<name>`. */
export function createDiskStore(folder: string): FileStore {
  const pathOf = (orgId: string, name: string) => join(folder, ...partsOf(orgId, name));

  const store: FileStore = {
    async put(orgId, name, content) {
      const path = pathOf(orgId, name);
      const there = isHash(name) ? await stat(path).catch(nothing) : null;
      if (there) return { sha256: name, bytes: there.size };
      const beside = `${path}-${randomBytes(6).toString('hex')}`;
      const { chunks, kept } = hashWhileReading(content);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeThrough(beside, chunks);
        const what = kept();
        assertHashMatches(name, what);
        await rename(beside, path);
        await syncFolder(dirname(path));
        return what;
      } catch (error) {
        await rm(beside, { force: true });
        throw isFull(error) ? storeFailure('full') : error;
      }
    },
    async open(orgId, name, range) {
      const file = await open(pathOf(orgId, name), 'r').catch(nothing);
      if (!file) return null;
      const { size: bytes } = await file.stat();
      if (range) return { bytes, chunks: file.createReadStream({ start: range.first, end: range.last }) };
      return { bytes, chunks: verifyWhileReading(name, file.createReadStream()) };
    },
    read: (orgId, name) => readWhole(store, orgId, name),
    has: (orgId, name) =>
      access(pathOf(orgId, name)).then(
        () => true,
        (error: NodeJS.ErrnoException) => nothing(error) !== null,
      ),
    async remove(orgId, name) {
      await rm(pathOf(orgId, name), { force: true });
    },
    list: () => listIn(folder),
    link: () => null,
  };
  return store;
}

async function* listIn(folder: string): AsyncGenerator<ListedFile> {
  for await (const org of entriesOf(folder)) {
    for await (const group of entriesOf(join(folder, org))) {
      for await (const name of entriesOf(join(folder, org, group))) {
        // Files that are still being written have a name that is never stored.
        if (!isName(name)) continue;
        const found = await stat(join(folder, org, group, name)).catch(nothing);
        if (found) yield { orgId: org, name, bytes: found.size };
      }
    }
  }
}

async function* entriesOf(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder).catch(nothing);
  for await (const { name } of opened ?? []) yield name;
}

function nothing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function writeThrough(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(chunks);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The new name survives a power cut only if the folder is synced too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export const fileOperations = ['put', 'open', 'read', 'has', 'remove', 'list'] as const;
/** `aborted`: the sender of the content stopped. `damaged`: the content does not match its hash. */
export const fileOutcomes = ['ok', 'unreachable', 'full', 'damaged', 'aborted', 'failed'] as const;

export type FileOperation = (typeof fileOperations)[number];
export type FileOutcome = (typeof fileOutcomes)[number];

type FileMetrics = {
  /** `seconds` is null for what takes as long as its reader needs. */
  fileStoreAnswered: (of: { operation: FileOperation; outcome: FileOutcome; seconds: number | null }) => void;
};

/** Counts and times the requests to a file store. */
export function measuredStore<Store extends FileStore>(store: Store, { fileStoreAnswered }: FileMetrics): Store {
  async function measure<T>(operation: FileOperation, work: () => Promise<T>, isAborted = () => false): Promise<T> {
    const startedAt = performance.now();
    const ended = (outcome: FileOutcome) =>
      fileStoreAnswered({ operation, outcome, seconds: (performance.now() - startedAt) / 1000 });
    try {
      const result = await work();
      ended('ok');
      return result;
    } catch (error) {
      ended(isAborted() ? 'aborted' : outcomeOf(error));
      throw error;
    }
  }

  /** Downloads and lists may fail after their first byte. */
  async function* watch<T>(operation: FileOperation, chunks: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* chunks;
    } catch (error) {
      fileStoreAnswered({ operation, outcome: outcomeOf(error), seconds: null });
      throw error;
    }
  }

  return {
    ...store,
    put(orgId, name, content) {
      const { watched, isAborted } = watchSender(content);
      return measure('put', () => store.put(orgId, name, watched), isAborted);
    },
    async open(orgId, name, range) {
      const opened = await measure('open', () => store.open(orgId, name, range));
      return opened && { ...opened, chunks: watch('open', opened.chunks) };
    },
    read: (orgId, name) => measure('read', () => store.read(orgId, name)),
    has: (orgId, name) => measure('has', () => store.has(orgId, name)),
    remove: (orgId, name) => measure('remove', () => store.remove(orgId, name)),
    list: () => watch('list', store.list()),
  };
}

/** An upload that its sender breaks off is no fault of the store. */
function watchSender(content: Content): { watched: Content; isAborted: () => boolean } {
  if (content instanceof Uint8Array) return { watched: content, isAborted: () => false };
  let isAborted = false;
  async function* pass(chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (error) {
      isAborted = true;
      throw error;
    }
  }
  return { watched: pass(content), isAborted: () => isAborted };
}

function outcomeOf(error: unknown): FileOutcome {
  if (error instanceof DamagedContent) return 'damaged';
  const fault = storeFaultOf(error);
  if (fault === null) return 'failed';
  return fault === 'full' ? 'full' : 'unreachable';
}
