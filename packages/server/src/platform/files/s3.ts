import type { OutboundLog } from '../outbound/connector.ts';
import {
  assertHashMatches,
  type FileStore,
  hashWhileReading,
  isName,
  type ListedFile,
  partsOf,
  type Range,
  readWhole,
  type StoredContent,
  storeFailure,
  verifyWhileReading,
} from './file-store.ts';
import { createS3Client, type S3Client, type S3Location } from './s3-client.ts';

/** The memory per upload. S3 accepts ten thousand parts, which makes 80 GB. */
const partBytes = 8 * 1024 * 1024;
/** How often an interrupted download is resumed. */
const maxResumes = 5;

/** Stores content in a bucket as `<prefix>/<org>/<first two characters>/<name>`. */
export function createS3Store(
  place: S3Location,
  log: OutboundLog,
  { pauseMs }: { pauseMs?: number } = {},
): FileStore & { close: () => Promise<void> } {
  const client = createS3Client(place, log, pauseMs);
  const prefix = place.prefix === '' ? '' : `${place.prefix}/`;
  const keyOf = (orgId: string, name: string) => `${prefix}${partsOf(orgId, name).join('/')}`;

  const store: FileStore & { close: () => Promise<void> } = {
    async put(orgId, name, content) {
      const key = keyOf(orgId, name);
      const { chunks, kept } = hashWhileReading(content);
      const parts = inParts(chunks);
      const { value: first = new Uint8Array(), done } = await parts.next();
      if (done || first.byteLength < partBytes) {
        const what = kept();
        assertHashMatches(name, what);
        await client.ask({ method: 'PUT', key, body: first });
        return what;
      }
      return putInParts(client, key, { first, rest: parts }, () => {
        const what = kept();
        assertHashMatches(name, what);
        return what;
      });
    },
    async open(orgId, name, range) {
      const key = keyOf(orgId, name);
      const opened = await openAt(client, key, range ?? null);
      if (!opened) return null;
      const { bytes } = opened;
      const last = range?.last ?? bytes - 1;
      const chunks = resuming(client, key, opened, { first: range?.first ?? 0, last: Math.min(last, bytes - 1) });
      return { bytes, chunks: range ? chunks : verifyWhileReading(name, chunks) };
    },
    read: (orgId, name) => readWhole(store, orgId, name),
    async has(orgId, name) {
      const key = keyOf(orgId, name);
      const { statusCode, body } = await client.send({ method: 'HEAD', key, expected: [404], patience: 'brief' });
      await body.dump();
      return statusCode !== 404;
    },
    async remove(orgId, name) {
      await client.ask({ method: 'DELETE', key: keyOf(orgId, name), expected: [404], patience: 'brief' });
    },
    list: () => listIn(client, prefix),
    link: (orgId, name, { filename, mediaType, seconds }) =>
      client.sign(
        keyOf(orgId, name),
        {
          'response-cache-control': 'private, no-store',
          'response-content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
          // The store must not serve content that a browser would execute.
          'response-content-type': /html|xml|svg|script/i.test(mediaType) ? 'application/octet-stream' : mediaType,
        },
        seconds,
      ),
    close: client.close,
  };
  return store;
}

/** Nothing is visible before the last request. If it fails, the upload is aborted. */
async function putInParts(
  client: S3Client,
  key: string,
  { first, rest }: { first: Uint8Array; rest: AsyncIterable<Uint8Array> },
  checkedWhole: () => StoredContent,
): Promise<StoredContent> {
  const uploadId = tagIn(await client.ask({ method: 'POST', key, query: { uploads: '' } }), 'UploadId');
  if (uploadId === null) throw storeFailure('away');
  const etags: string[] = [];
  const putPart = async (body: Uint8Array) => {
    const query = { partNumber: String(etags.length + 1), uploadId };
    const { headers, body: answered } = await client.send({ method: 'PUT', key, query, body });
    await answered.dump();
    etags.push(String(headers.etag));
  };
  try {
    await putPart(first);
    for await (const part of rest) await putPart(part);
    const kept = checkedWhole();
    const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const headers = { 'content-type': 'application/xml' };
    const answer = await client.ask({ method: 'POST', key, query: { uploadId }, headers, body });
    // This request may start with status 200 and end with an error.
    if (answer.includes('<Error>')) throw storeFailure('away');
    return kept;
  } catch (error) {
    await client
      .ask({ method: 'DELETE', key, query: { uploadId }, expected: [404, 501], patience: 'brief' })
      .catch(() => {});
    throw error;
  }
}

async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let left = chunk;
    while (bytes + left.byteLength >= partBytes) {
      const fits = partBytes - bytes;
      yield Buffer.concat([...held, left.subarray(0, fits)]);
      held = [];
      bytes = 0;
      left = left.subarray(fits);
    }
    if (left.byteLength > 0) held.push(left);
    bytes += left.byteLength;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

type OpenedKey = { bytes: number; etag: string; body: AsyncIterable<Uint8Array> };

/** With `etag`, it succeeds only if the content has not changed. */
async function openAt(client: S3Client, key: string, range: Range | null, etag?: string): Promise<OpenedKey | null> {
  const headers = {
    ...(range && { range: `bytes=${range.first}-${range.last}` }),
    ...(etag !== undefined && { 'if-match': etag }),
  };
  const answer = await client.send({ method: 'GET', key, headers, expected: [404] });
  if (answer.statusCode === 404) {
    await answer.body.dump();
    return null;
  }
  const [, whole] = /\/(\d+)$/.exec(String(answer.headers['content-range'] ?? '')) ?? [];
  const bytes = Number(whole ?? answer.headers['content-length']);
  return { bytes, etag: String(answer.headers.etag), body: answer.body };
}

/** Resumes the download if the connection breaks. */
async function* resuming(
  client: S3Client,
  key: string,
  opened: OpenedKey,
  { first, last }: Range,
): AsyncGenerator<Uint8Array> {
  let at = first;
  let body: AsyncIterable<Uint8Array> | undefined = opened.body;
  for (let resumed = 0; at <= last || resumed === 0; resumed++) {
    try {
      for await (const chunk of body) {
        at += chunk.byteLength;
        yield chunk;
      }
      if (at > last) return;
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
    if (resumed === maxResumes) throw storeFailure('away');
    const again = await openAt(client, key, { first: at, last }, opened.etag);
    if (!again) throw storeFailure('away');
    body = again.body;
  }
}

/** Recognises connection errors. Errors that the reader throws into the loop are not. */
const isBroken = (error: unknown) => error instanceof Error && 'code' in error && !('status' in error);

const keysAtOnce = '1000';

async function* listIn(client: S3Client, prefix: string): AsyncGenerator<ListedFile> {
  let token: string | null = null;
  do {
    const query: Record<string, string> = {
      'list-type': '2',
      'max-keys': keysAtOnce,
      prefix,
      ...(token !== null && { 'continuation-token': token }),
    };
    const answer = await client.ask({ method: 'GET', query });
    for (const [, entry = ''] of answer.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
      const [orgId = '', , name = ''] = (tagIn(entry, 'Key') ?? '').slice(prefix.length).split('/');
      if (orgId !== '' && isName(name)) yield { orgId, name, bytes: Number(tagIn(entry, 'Size')) };
    }
    token = tagIn(answer, 'IsTruncated') === 'true' ? tagIn(answer, 'NextContinuationToken') : null;
  } while (token !== null);
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function tagIn(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text?.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => entities[entity] as string) ?? null;
}
