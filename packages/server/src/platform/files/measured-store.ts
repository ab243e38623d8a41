import { type Content, DamagedContent, type FileStore, storeFaultOf } from './file-store.ts';

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
