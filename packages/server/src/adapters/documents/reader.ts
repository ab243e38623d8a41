import { Worker } from 'node:worker_threads';
import { fail } from '@vestra/contract/errors';
import { openZip } from '../zip/open-zip.ts';
import { charsetOfPage, charsetOfType, decodeText } from './decode-text.ts';
import type { Extracted, Extraction } from './extract-worker.ts';
import { type DocumentKind, kindOf } from './kind.ts';

type UploadedFile = { filename: string | null; contentType: string; bytes: Uint8Array };

export type DocumentReader = {
  /**
   * The text of an uploaded file and the type of that text; a file that has none to give is refused on `file`. More
   * than `maxCharacters` of UTF-16 is `document_too_large`, and not read to its end. `orgId`: in whose turn it is read.
   */
  read: (
    file: UploadedFile,
    options: { orgId: string; maxCharacters: number },
  ) => Promise<{ text: string; contentType: string }>;
};

type Limits = {
  /** How long a file may take once its turn has come. */
  timeMs: number;
  /** What a file may grow to in memory, in megabytes of objects and again of buffers. */
  memoryMb: number;
  /** Files that are read at once, of all and of one org; the others wait. */
  atOnce: number;
  ofOrg: number;
  /** Files of one org that may wait. */
  waiting: number;
};

/** Far above what 3 MB of text and pictures unpack to. */
const mostUnpackedBytes = 64 * 1024 * 1024;

/** Measured on two busy cores: as much text as a document may hold takes 1.5 s from a PDF and 4 s from HTML. */
const defaultLimits: Limits = { timeMs: 20_000, memoryMb: 256, atOnce: 3, ofOrg: 2, waiting: 32 };

export function createDocumentReader(given: Partial<Limits> = {}): DocumentReader {
  const limits = { ...defaultLimits, ...given };
  const turns = createTurns(limits);
  return {
    async read(file, { orgId, maxCharacters }) {
      const kind = kindOf(file);
      if (kind === 'docx') await refuseBomb(file.bytes);
      const text = isText(kind)
        ? textOf(file)
        : await turns.take(orgId, () => extract({ ...contentOf(kind, file), maxCharacters }, limits));
      if (text.length > maxCharacters) throw fail('document_too_large', { param: 'file' });
      if (text.trim() === '') throw unreadable('The file holds no text. A scan has to be turned into text first.');
      return { text, contentType: kind === 'text' || kind === 'pdf' ? 'text/plain' : 'text/markdown' };
    },
  };
}

/** A file of a few hundred kilobytes may unpack to gigabytes: one that says so costs nothing but the look at its list. */
async function refuseBomb(bytes: Uint8Array): Promise<void> {
  let unpacked = 0;
  try {
    for await (const { declaredBytes } of openZip(bytes)) unpacked += declaredBytes;
  } catch {
    throw unreadable('The file cannot be read.');
  }
  if (unpacked > mostUnpackedBytes) throw unreadable('The file unpacks to more than can be read.');
}

const isText = (kind: DocumentKind) => kind === 'text' || kind === 'markdown';

const textOf = ({ bytes, contentType }: UploadedFile) => decodeText(bytes, charsetOfType(contentType));

function contentOf(kind: DocumentKind, { bytes, contentType }: UploadedFile): Omit<Extraction, 'maxCharacters'> {
  if (kind !== 'html') return { kind: kind as 'pdf' | 'docx', content: bytes };
  return { kind, content: decodeText(bytes, charsetOfType(contentType) ?? charsetOfPage(bytes)) };
}

/**
 * In a thread of its own: a hostile file can keep the library busy for minutes or unpack to gigabytes, and the event
 * loop would stand still meanwhile. A new one for each file, so that none meets what another has left.
 */
function extract(extraction: Extraction, { timeMs, memoryMb }: Limits): Promise<string> {
  const worker = new Worker(new URL('./extract-worker.ts', import.meta.url), {
    workerData: extraction,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<string>((resolve, reject) => {
    const refuse = (reason: string) => reject(unreadable(reason));
    const time = setTimeout(() => refuse('The file takes too long to read.'), timeMs);
    const memory = setInterval(() => void watchMemory(), 50);
    worker.once('message', (result: Extracted) =>
      // Half a surrogate pair and NUL, which broken fonts make, cannot be stored.
      'text' in result ? resolve(result.text.toWellFormed().replaceAll('\0', '')) : refuse(result.reason),
    );
    worker.once('error', () => refuse('The file cannot be read.'));
    worker.once('exit', () => {
      clearTimeout(time);
      clearInterval(memory);
      refuse('The file cannot be read.');
    });

    /** The limit on objects is the thread's own; buffers lie outside of it. */
    async function watchMemory() {
      const used = await worker.getHeapStatistics().catch(() => undefined);
      if (used && used.external_memory > memoryMb * 1024 * 1024) refuse('The file unpacks to more than can be read.');
    }
  }).finally(() => worker.terminate());
}

const unreadable = (message: string) => fail('invalid_request', { param: 'file', message });

/** Lets a few run at once. Of those that wait the org's comes first that has least running; one that has many waits alone. */
function createTurns({ atOnce, ofOrg, waiting }: Limits) {
  const running = new Map<string, number>();
  const queue: { orgId: string; start: () => void }[] = [];
  let all = 0;

  const runningOf = (orgId: string) => running.get(orgId) ?? 0;
  const hasRoom = (orgId: string) => all < atOnce && runningOf(orgId) < ofOrg;

  function count(orgId: string, change: 1 | -1): void {
    all += change;
    const left = runningOf(orgId) + change;
    if (left === 0) running.delete(orgId);
    else running.set(orgId, left);
  }

  /** Counted before it runs, so that nobody can step in between. */
  function startNext(): void {
    const [next] = queue
      .filter(({ orgId }) => hasRoom(orgId))
      .sort((one, other) => runningOf(one.orgId) - runningOf(other.orgId));
    if (!next) return;
    queue.splice(queue.indexOf(next), 1);
    count(next.orgId, 1);
    next.start();
  }

  return {
    async take<Result>(orgId: string, work: () => Promise<Result>): Promise<Result> {
      if (hasRoom(orgId)) count(orgId, 1);
      else {
        if (queue.filter((each) => each.orgId === orgId).length >= waiting)
          throw fail('not_ready', { message: 'Many documents are being read. Try again shortly.' });
        await new Promise<void>((start) => queue.push({ orgId, start }));
      }
      try {
        return await work();
      } finally {
        count(orgId, -1);
        startNext();
      }
    },
  };
}
