import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { fail } from '@vestra/contract/errors';
import { createLimiter } from '../../platform/async/limiter.ts';
import { type Confinement, mountsOfProgram, nodeProgram, unusedAccount } from '../../platform/sandbox/confine.ts';
import { joinCaptured, spawnConfined, waitForExit } from '../../platform/sandbox/confined-process.ts';
import { openZip } from '../skills/open-zip.ts';
import type { Extraction, ExtractionResult } from './extract.ts';

type UploadedFile = { filename: string | null; contentType: string; bytes: Uint8Array };

export type DocumentReader = {
  /**
   * Returns the text of an uploaded file and its type. A file without text is refused on `file`. A text of more than
   * `maxCharacters` UTF-16 units is `document_too_large` and is not read to the end. One org can never take all slots.
   */
  read: (
    file: UploadedFile,
    options: { orgId: string; maxCharacters: number },
  ) => Promise<{ text: string; contentType: string }>;
};

type Limits = {
  /** The time limit for one file, without waiting. */
  timeMs: number;
  /** Memory limit for a file in megabytes, for objects and again for buffers. */
  memoryMb: number;
  /** Files read at once. One org gets all slots but one. */
  atOnce: number;
  /** Files that may wait. One org gets a quarter of these slots. */
  waiting: number;
};

/** Far above the unpacked size of a 10 MB file with text and pictures. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** Measured on two busy cores: the largest document takes 1.5 s from a PDF and 4 s from HTML. */
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
      if (isZip(kind)) await refuseZipBomb(kind, file.bytes);
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

/**
 * A file of a few hundred kilobytes may unpack to gigabytes. Reading the declared sizes costs nothing, so such a file
 * is refused first.
 */
async function refuseZipBomb(kind: DocumentKind, bytes: Uint8Array): Promise<void> {
  let unpacked = 0;
  try {
    for await (const { declaredBytes } of openZip(bytes)) unpacked += declaredBytes;
  } catch {
    throw unreadable(`The ${kind.toUpperCase()} file cannot be read.`);
  }
  if (unpacked > maxUnpackedBytes) throw unreadable('The file unpacks to more than can be read.');
}

const isZip = (kind: DocumentKind) => kind === 'docx' || kind === 'xlsx' || kind === 'pptx';

const isText = (kind: DocumentKind) => kind === 'text' || kind === 'markdown';

const textOf = ({ bytes, contentType }: UploadedFile) => decodeText(bytes, charsetOfType(contentType));

function contentOf(kind: DocumentKind, { bytes, contentType }: UploadedFile): Omit<Extraction, 'maxCharacters'> {
  if (kind !== 'html') return { kind: kind as Exclude<Extraction['kind'], 'html'>, content: bytes };
  return { kind, content: decodeText(bytes, charsetOfType(contentType) ?? charsetOfPage(bytes)) };
}

/** Uses a sandbox if this machine supports one. */
async function extract(extraction: Extraction, limits: Limits): Promise<string> {
  const extracted = (await canConfine())
    ? await extractConfined(extraction, limits)
    : await extractInThread(extraction, limits);
  if (extracted === null) throw unreadable('The file takes too long to read.');
  if ('reason' in extracted) throw unreadable(extracted.reason);
  // PostgreSQL cannot store half a surrogate pair or NUL, which broken fonts produce.
  return extracted.text.toWellFormed().replaceAll('\0', '');
}

const unreadable = (message: string) => fail('invalid_request', { param: 'file', message });

type DocumentKind = 'text' | 'markdown' | Extraction['kind'];

const byContentType: Record<string, DocumentKind> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
};

const byExtension: Record<string, DocumentKind> = {
  txt: 'text',
  text: 'text',
  md: 'markdown',
  markdown: 'markdown',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  pdf: 'pdf',
  docx: 'docx',
  xlsx: 'xlsx',
  pptx: 'pptx',
};

/** Plain text formats. Clients send them with many types: `.ts` is also a video type. */
const textExtensions = new Set(
  `csv tsv json jsonl ndjson yaml yml xml toml ini cfg conf properties log rst adoc tex sql graphql proto diff patch
  sh bash zsh fish ps1 bat py rb php pl lua r jl js mjs cjs jsx ts tsx mts cts vue svelte css scss less java kt kts
  scala groovy swift go rs c h cc cpp hpp cs fs ex exs erl hs clj dart tf gradle`.split(/\s+/),
);
const textType = /^(text\/.+|application\/(.+\+)?(json|x-ndjson|xml|yaml|x-yaml|toml|sql|javascript|x-sh))$/;

/** Types that clients send for any unknown file. */
const unspecific = ['', 'application/octet-stream', 'text/plain'];

function kindOf({ filename, contentType }: { filename: string | null; contentType: string }): DocumentKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = /\.([^.]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const kind = byContentType[type] ?? (unspecific.includes(type) ? byExtension[extension] : undefined);
  if (kind) return kind;
  if (textExtensions.has(extension) || textType.test(type)) return 'text';
  throw fail('unsupported_media_type', {
    param: 'file',
    message: `A document is text (also CSV, JSON, YAML, XML and source code), Markdown, HTML, PDF, DOCX, XLSX or PPTX; ${type ? `\`${type.slice(0, 100)}\`` : 'a file without a type'} is none of these.`,
  });
}

/** Decodes text by its byte order mark, else by the declared charset, else as UTF-8. */
function decodeText(bytes: Uint8Array, declaredCharset: string | undefined): string {
  const decoder = decoderOf(charsetOfMark(bytes) ?? declaredCharset ?? 'utf-8');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw fail('invalid_request', { param: 'file', message: `The file is not a text in ${decoder.encoding}.` });
  }
  if (text.includes('\0')) throw fail('invalid_request', { param: 'file', message: 'The file is binary, not a text.' });
  return text;
}

function charsetOfMark([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    throw fail('invalid_request', { param: 'file', message: `The charset \`${charset.slice(0, 40)}\` is not known.` });
  }
}

const charsetOfType = (contentType: string): string | undefined => /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];

/** An HTML page declares its charset near its beginning. */
function charsetOfPage(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]+charset\s*=\s*["']?([^"'\s/>;]+)/i.exec(beginning)?.[1];
}

type LimitsOfFile = Pick<Limits, 'timeMs' | 'memoryMb'>;

/**
 * Reads a file in a sandboxed process without environment, network or other folders. A hostile file that takes over the
 * library reaches nothing else. Returns null if the time limit is reached.
 */
async function extractConfined(extraction: Extraction, limits: LimitsOfFile): Promise<ExtractionResult | null> {
  const { content, ...rest } = extraction;
  const input = Buffer.concat([Buffer.from(`${JSON.stringify(rest)}\n`), Buffer.from(content as Uint8Array)]);
  const { timeMs: timeoutMs, memoryMb } = limits;
  const command = [nodeProgram, `--max-old-space-size=${memoryMb}`, program];
  const confined = spawnConfined(command, confinementOf(memoryMb), { input });
  // Twice, because the capture reserves half for the beginning. A character takes at most six bytes.
  const maxBytes = 2 * (6 * extraction.maxCharacters + 1000);
  const signal = new AbortController().signal;
  const { end, exitCode, stdout } = await waitForExit(confined, { timeoutMs, maxBytes, signal });
  if (end === 'timeout') return null;
  if (exitCode !== 0) return { reason: 'The file cannot be read.' };
  return JSON.parse(Buffer.from(joinCaptured(stdout, () => '')).toString('utf8')) as ExtractionResult;
}

let trialSucceeds: Promise<boolean> | undefined;

/** Returns whether the sandbox works on this machine. Tried once. */
export function canConfine(): Promise<boolean> {
  const trial: Extraction = { kind: 'html', content: '<p>text</p>', maxCharacters: 10 };
  trialSucceeds ??= extractConfined(trial, { timeMs: 20_000, memoryMb: 256 }).then(
    (extracted) => extracted !== null && 'text' in extracted && extracted.text === 'text',
    () => false,
  );
  return trialSucceeds;
}

const program = fileURLToPath(new URL('./extract-process.ts', import.meta.url));

const libraries = ['unpdf', 'mammoth', 'turndown', 'saxen', 'yauzl'];

const megabyte = 1024 * 1024;
/** Memory of the program before it reads a file. */
const ownMb = 512;

const confinementOf = (memoryMb: number): Confinement => ({
  mounts: mountsOfProgram(program, libraries),
  env: {},
  workingFolder: '/',
  egressSocket: null,
  limits: { processes: 64, fileBytes: 0, memoryBytes: (2 * memoryMb + ownMb) * megabyte },
  identity: unusedAccount(),
});

/**
 * Reads a file in a new thread, because a hostile file can block the library for minutes or unpack to gigabytes. Files
 * share no state. Returns null if the time limit is reached.
 */
function extractInThread(extraction: Extraction, { timeMs, memoryMb }: LimitsOfFile): Promise<ExtractionResult | null> {
  const worker = new Worker(new URL('./extract-worker.ts', import.meta.url), {
    workerData: extraction,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<ExtractionResult | null>((resolve) => {
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

    /** `resourceLimits` covers objects only. Buffers are outside the heap. */
    async function watchMemory() {
      const used = await worker.getHeapStatistics().catch(() => undefined);
      if (used && used.external_memory > memoryMb * 1024 * 1024) refuse('The file unpacks to more than can be read.');
    }
  }).finally(() => worker.terminate());
}
