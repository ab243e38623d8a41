import { Worker } from 'node:worker_threads';
import { fail } from '@vestra/contract/errors';
import { createLimiter } from '../../platform/async/limiter.ts';
import { openZip } from '../skills/open-zip.ts';
import { charsetOfPage, charsetOfType, decodeText } from './decode-text.ts';
import type { Extracted, Extraction } from './extract.ts';
import { canConfine, extractConfined } from './extract-confined.ts';
import { type DocumentKind, kindOf } from './kind.ts';

type UploadedFile = { filename: string | null; contentType: string; bytes: Uint8Array };

export type DocumentReader = {
  /**
   * The text of an uploaded file and the type of that text; a file that has none to give is refused on `file`. More
   * than `maxCharacters` of UTF-16 is `document_too_large`, and not read to its end. What one org sends never takes all
   * places.
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
  /** Files that are read at once; one org has all of these places but one. */
  atOnce: number;
  /** Files that may wait; one org has a quarter of these places. */
  waiting: number;
};

/** Far above what 3 MB of text and pictures unpack to. */
const mostUnpackedBytes = 64 * 1024 * 1024;

/** Measured on two busy cores: as much text as a document may hold takes 1.5 s from a PDF and 4 s from HTML. */
const defaultLimits: Limits = { timeMs: 20_000, memoryMb: 256, atOnce: 3, waiting: 32 };

export function createDocumentReader(given: Partial<Limits> = {}): DocumentReader {
  const limits = { ...defaultLimits, ...given };
  const { atOnce, waiting } = limits;
  const limiter = createLimiter({
    atOnce,
    waiting,
    atOnceEach: Math.max(1, atOnce - 1),
    waitingEach: Math.ceil(waiting / 4),
  });
  return {
    async read(file, { orgId, maxCharacters }) {
      const kind = kindOf(file);
      if (isZip(kind)) await refuseBomb(kind, file.bytes);
      const text = isText(kind)
        ? textOf(file)
        : await limiter.run(orgId, () => extract({ ...contentOf(kind, file), maxCharacters }, limits));
      if (text === null) throw fail('not_ready', { message: 'Many documents are being read. Try again shortly.' });
      if (text.length > maxCharacters) throw fail('document_too_large', { param: 'file' });
      if (text.trim() === '') throw unreadable('The file holds no text. A scan has to be turned into text first.');
      return { text, contentType: kind === 'text' || kind === 'pdf' ? 'text/plain' : 'text/markdown' };
    },
  };
}

/** A file of a few hundred kilobytes may unpack to gigabytes: one that says so costs nothing but the look at its list. */
async function refuseBomb(kind: DocumentKind, bytes: Uint8Array): Promise<void> {
  let unpacked = 0;
  try {
    for await (const { declaredBytes } of openZip(bytes)) unpacked += declaredBytes;
  } catch {
    throw unreadable(`The ${kind.toUpperCase()} file cannot be read.`);
  }
  if (unpacked > mostUnpackedBytes) throw unreadable('The file unpacks to more than can be read.');
}

const isZip = (kind: DocumentKind) => kind === 'docx' || kind === 'xlsx' || kind === 'pptx';

const isText = (kind: DocumentKind) => kind === 'text' || kind === 'markdown';

const textOf = ({ bytes, contentType }: UploadedFile) => decodeText(bytes, charsetOfType(contentType));

function contentOf(kind: DocumentKind, { bytes, contentType }: UploadedFile): Omit<Extraction, 'maxCharacters'> {
  if (kind !== 'html') return { kind: kind as Exclude<Extraction['kind'], 'html'>, content: bytes };
  return { kind, content: decodeText(bytes, charsetOfType(contentType) ?? charsetOfPage(bytes)) };
}

/** In a sandbox, where this machine has any. */
async function extract(extraction: Extraction, limits: Limits): Promise<string> {
  const extracted = (await canConfine())
    ? await extractConfined(extraction, limits)
    : await extractInThread(extraction, limits);
  if (extracted === null) throw unreadable('The file takes too long to read.');
  if ('reason' in extracted) throw unreadable(extracted.reason);
  // Half a surrogate pair and NUL, which broken fonts make, cannot be stored.
  return extracted.text.toWellFormed().replaceAll('\0', '');
}

/**
 * A hostile file can keep the library busy for minutes or unpack to gigabytes, and the event loop would stand still
 * meanwhile. A new thread for each file, so that none meets what another has left. Null where time ran out.
 */
function extractInThread(extraction: Extraction, { timeMs, memoryMb }: Limits): Promise<Extracted | null> {
  const worker = new Worker(new URL('./extract-worker.ts', import.meta.url), {
    workerData: extraction,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<Extracted | null>((resolve) => {
    const refuse = (reason: string) => resolve({ reason });
    const time = setTimeout(() => resolve(null), timeMs);
    const memory = setInterval(() => void watchMemory(), 50);
    worker.once('message', resolve);
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
