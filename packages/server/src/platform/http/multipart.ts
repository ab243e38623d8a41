import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { type Failure, fail } from '@vestra/contract/errors';

/** An uploaded file, with the plain fields of its multipart body. */
export type Upload = { filename: string | null; contentType: string; bytes: Uint8Array; form: Record<string, string> };

/** More than any route reads. A body could have a hundred thousand small parts, each of which costs time. */
const maxParts = 32;
const maxFieldBytes = 64 * 1024;
const maxSilenceMs = 100;

/** Reads the parts while they arrive. The first violation of a limit refuses the body, and the rest is not parsed. */
export async function readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  contentType: string,
): Promise<{ upload: Upload; hashed: (string | Uint8Array)[] }> {
  const form: Record<string, string> = {};
  const hashed: (string | Uint8Array)[] = ['multipart/form-data'];
  let file: { filename: string; contentType: string; chunks: Uint8Array[]; hashedAt: number } | null = null;
  let refusal: Failure | null = null;
  let stop = () => {};
  const refuse = (failure: Failure) => {
    refusal ??= failure;
    stop();
  };
  const broken = () => refuse(unreadable('cannot be read'));

  const parser = openParser(contentType);
  const read = new Promise<void>((resolve) => {
    stop = resolve;
    parser.once('finish', resolve).on('error', broken);
  });
  parser.on('partsLimit', () => refuse(unreadable(`has more than ${maxParts} parts`)));
  parser.on('field', (name, value, isNameCut, isCut) => {
    if (isNameCut || isCut) return refuse(unreadable(`has a field of more than ${maxFieldBytes} bytes`));
    form[name] = value;
    hashed.push(name, value);
  });
  parser.on('file', (name, stream: BusboyFileStream, givenName, _encoding, type) => {
    // A truncated file also emits an error on its stream. Without a listener that error would end the process.
    stream.on('error', broken);
    if (name !== 'file' || file) {
      refuse(fail('file_required', { param: name, message: 'Send one file, in the part named `file`.' }));
      return stream.resume();
    }
    const filename = unescaped(givenName ?? '');
    const received = { filename, contentType: type, chunks: [] as Uint8Array[], hashedAt: hashed.length };
    file = received;
    stream.on('data', (chunk: Uint8Array) => received.chunks.push(chunk));
  });

  for await (const chunk of chunks) {
    // Read to the end anyway: a client that is still sending would not see the response.
    if (refusal) continue;
    const written = new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    await inTime(Promise.race([written, read]));
  }
  if (!refusal) {
    parser.end();
    await inTime(read);
  }
  if (refusal) throw refusal;
  return received();

  /** Limits the wait for the parser: after some broken bodies it neither ends nor reports an error. */
  async function inTime(work: Promise<void>): Promise<void> {
    const late = setTimeout(broken, maxSilenceMs);
    await work.catch(broken).finally(() => clearTimeout(late));
  }

  function received() {
    if (!file) throw fail('file_required', { param: 'file' });
    const bytes = Buffer.concat(file.chunks);
    hashed.splice(file.hashedAt, 0, 'file', file.filename, file.contentType, bytes);
    return { upload: { filename: file.filename, contentType: file.contentType, bytes, form }, hashed };
  }
}

function openParser(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: maxParts, fieldSize: maxFieldBytes, fieldNameSize: maxFieldBytes, headerPairs: 32 },
      preservePath: true,
      isPartAFile: (_name, _type, filename) => filename !== undefined,
    });
  } catch {
    throw unreadable('says no boundary');
  }
}

/** Browsers and Node percent-encode these three characters in file names. */
const unescaped = (name: string) => name.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replaceAll('%22', '"');

const unreadable = (why: string) => fail('multipart_required', { message: `The multipart body ${why}.` });
