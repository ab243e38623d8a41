import { type Failure, fail } from '@vestra/contract/errors';
import { bodyLimitOf, type ContentType, type Route } from '@vestra/contract/route';
import { readJson } from './json.ts';
import type { readMultipart, Upload } from './multipart.ts';

/** What came in: the bytes as they are, or the parts of a multipart body, which are told apart while they come. */
export type RawBody =
  | { contentType: Exclude<ContentType, 'multipart/form-data'>; bytes: Uint8Array }
  | { contentType: 'multipart/form-data'; parts: Awaited<ReturnType<typeof readMultipart>> };

/** Content type and size are checked before anything is made of the bytes. */
export async function receiveBody(route: Route, request: Request, by: { session: boolean }): Promise<RawBody | null> {
  const limit = bodyLimitOf(route, by);
  if (!route.body) {
    if (route.method !== 'GET') await refuseFields(request, limit);
    return null;
  }
  const header = request.headers.get('content-type') ?? '';
  const contentType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const accepted: readonly string[] = route.accepts ?? ['application/json'];
  if (contentType === '' && route.bodyOptional && (await isLeftOut(request))) return null;
  if (!accepted.includes(contentType)) throw refusedType(accepted, contentType);
  if (contentType === 'multipart/form-data') {
    const message = `The file is larger than this route takes: the whole body may have ${limit} bytes.`;
    const chunks = within(request, limit, () => fail('file_too_large', { param: 'file', message }));
    const multipart = await import('./multipart.ts');
    return { contentType, parts: await multipart.readMultipart(chunks, header) };
  }
  const other = contentType as Exclude<ContentType, 'multipart/form-data'>;
  return { contentType: other, bytes: await readBytes(request, limit) };
}

/** A field that a route does not take would otherwise be passed over without a word. */
async function refuseFields(request: Request, limit: number): Promise<void> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return;
  const value = await readJson(bytes);
  const [field] = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [''];
  if (field === undefined) return;
  const what = field === '' ? 'A body' : `The field \`${field.slice(0, 100)}\``;
  throw fail('invalid_request', { param: field, message: `${what} is not taken here: this route has no body.` });
}

/** Who sends no body need not say how long it is: `curl -X POST` says nothing at all, and the server still has a stream. */
async function isLeftOut({ body, headers }: Request): Promise<boolean> {
  if (body === null) return true;
  const declared = headers.get('content-length');
  if (declared !== null) return declared === '0';
  for await (const chunk of body) if (chunk.byteLength > 0) return false;
  return true;
}

function refusedType(accepted: readonly string[], given: string) {
  if (accepted.length === 1 && accepted[0] === 'multipart/form-data') return fail('multipart_required');
  return fail('unsupported_media_type', {
    message: `Send ${accepted.join(' or ')}${given ? `, not ${given.slice(0, 100)}` : ' as Content-Type'}.`,
  });
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () => fail('body_too_large', { message: `This route takes at most ${limit} bytes.` });
  if (Number(request.headers.get('content-length') ?? Number.NaN) <= limit) {
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of within(request, limit, tooLarge)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * The body up to its limit. What is larger is thrown away up to twice the limit before it is refused: a client that is
 * still sending when the connection closes hears of a broken pipe, and not of what was wrong.
 */
async function* within({ body }: Request, limit: number, tooLarge: () => Failure): AsyncGenerator<Uint8Array> {
  let size = 0;
  // The rest is left unread and not cancelled: a form that one part of this process sends to another goes on writing
  // into the cancelled stream, and that error ends the process.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    size += chunk.byteLength;
    if (size > 2 * limit) throw tooLarge();
    if (size <= limit) yield chunk;
  }
  if (size > limit) throw tooLarge();
}

/** A field that is given twice could be read as either. */
function readForm(bytes: Uint8Array): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name)) {
      throw fail('invalid_request', { param: name.slice(0, 100), message: 'This field is given twice.' });
    }
    if (value.includes('\0')) throw fail('invalid_request');
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** What a handler is given: fields to validate, and the uploaded file where there is one. */
export async function openBody(
  route: Route,
  raw: RawBody | null,
): Promise<{ fields: unknown; upload: Upload | null; hashed: (string | Uint8Array)[] }> {
  if (!raw) return { fields: route.bodyOptional ? {} : undefined, upload: null, hashed: [] };
  if (raw.contentType === 'multipart/form-data') return { fields: undefined, ...raw.parts };
  if (raw.contentType === 'application/zip') {
    const upload = { filename: null, contentType: raw.contentType, bytes: raw.bytes, form: {} };
    return { fields: undefined, upload, hashed: [raw.contentType, raw.bytes] };
  }
  if (raw.contentType === 'application/x-www-form-urlencoded') {
    return { fields: readForm(raw.bytes), upload: null, hashed: [raw.contentType, raw.bytes] };
  }
  if (raw.bytes.length === 0 && route.bodyOptional) return { fields: {}, upload: null, hashed: [] };
  return {
    fields: await readJson(raw.bytes, {
      mayHoldNul: route.nulText === 'handler',
      ...(route.bodyValues !== undefined && { mostValues: route.bodyValues }),
    }),
    upload: null,
    hashed: [raw.contentType, raw.bytes],
  };
}
