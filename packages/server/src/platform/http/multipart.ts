import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { type Failure, fail } from '@vestra/contract/errors';

/** A file that was sent, with the plain fields that stood beside it in a multipart body. */
export type Upload = { filename: string | null; contentType: string; bytes: Uint8Array; form: Record<string, string> };

/** More than any route reads; a body may hold a hundred thousand parts of a few bytes, each of which costs time. */
const mostParts = 32;
const longestField = 64 * 1024;
const longestSilenceMs = 100;

/** The parts as they come in: what is too much is refused when it is met, and what follows it is not looked at. */
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
  parser.on('partsLimit', () => refuse(unreadable(`has more than ${mostParts} parts`)));
  parser.on('field', (name, value, isNameCut, isCut) => {
    if (isNameCut || isCut) return refuse(unreadable(`has a field of more than ${longestField} bytes`));
    form[name] = value;
    hashed.push(name, value);
  });
  parser.on('file', (name, stream: BusboyFileStream, givenName, _encoding, type) => {
    // A file that is cut off tells its own stream as well, and what nobody hears would end the process.
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
    // Read to its end all the same: a client that is still sending does not hear the answer.
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

  /** The parser has all it waits for: after some broken bodies it neither ends nor says what is wrong. */
  async function inTime(work: Promise<void>): Promise<void> {
    const late = setTimeout(broken, longestSilenceMs);
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
      limits: { parts: mostParts, fieldSize: longestField, fieldNameSize: longestField, headerPairs: 32 },
      preservePath: true,
      isPartAFile: (_name, _type, filename) => filename !== undefined,
    });
  } catch {
    throw unreadable('says no boundary');
  }
}

/** Browsers and Node write these three in a file name as if it were part of an address. */
const unescaped = (name: string) => name.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replaceAll('%22', '"');

const unreadable = (why: string) => fail('multipart_required', { message: `The multipart body ${why}.` });
