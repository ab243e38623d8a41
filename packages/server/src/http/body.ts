import { fail } from '@vestra/contract/errors';
import type { ContentType, Route } from '@vestra/contract/route';
import { readJson } from './json.ts';

const defaultLimit = 1024 * 1024;

/** A file that was sent, with the plain fields that stood beside it in a multipart body. */
export type Upload = { filename: string | null; contentType: string; bytes: Uint8Array; form: Record<string, string> };

export type RawBody = { contentType: ContentType; header: string; bytes: Uint8Array };

/** Content type and size are checked before anything is made of the bytes. */
export async function receiveBody(route: Route, request: Request): Promise<RawBody | null> {
  if (!route.body) return null;
  const header = request.headers.get('content-type') ?? '';
  const contentType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const accepted: readonly string[] = route.accepts ?? ['application/json'];
  if (contentType === '' && route.bodyOptional && (await isLeftOut(request))) return null;
  if (!accepted.includes(contentType)) throw refusedType(accepted, contentType);
  const bytes = await readBytes(request, route.bodyLimit ?? defaultLimit, contentType as ContentType);
  return { contentType: contentType as ContentType, header, bytes };
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

async function readBytes(request: Request, limit: number, contentType: ContentType): Promise<Uint8Array> {
  const tooLarge = () =>
    contentType === 'multipart/form-data'
      ? fail('file_too_large', { param: 'file' })
      : fail('body_too_large', { message: `This route takes at most ${limit} bytes.` });
  const declared = Number(request.headers.get('content-length') ?? Number.NaN);
  if (declared > limit) throw tooLarge();
  if (!request.body) return new Uint8Array();
  if (declared <= limit) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a handler is given: fields to validate, and the uploaded file where there is one. */
export async function openBody(
  route: Route,
  raw: RawBody | null,
): Promise<{ fields: unknown; upload: Upload | null; hashed: (string | Uint8Array)[] }> {
  if (!raw) return { fields: route.bodyOptional ? {} : undefined, upload: null, hashed: [] };
  if (raw.contentType === 'application/zip') {
    const upload = { filename: null, contentType: raw.contentType, bytes: raw.bytes, form: {} };
    return { fields: undefined, upload, hashed: [raw.contentType, raw.bytes] };
  }
  if (raw.contentType === 'multipart/form-data') return openMultipart(raw);
  if (raw.bytes.length === 0 && route.bodyOptional) return { fields: {}, upload: null, hashed: [] };
  return {
    fields: readJson(raw.bytes, { mayHoldNul: route.nulText === 'handler' }),
    upload: null,
    hashed: [raw.contentType, raw.bytes],
  };
}

async function openMultipart(raw: RawBody) {
  const form = await new Response(raw.bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': raw.header } })
    .formData()
    .catch(() => {
      throw fail('multipart_required', { message: 'The multipart body cannot be read.' });
    });
  const fields: Record<string, string> = {};
  const hashed: (string | Uint8Array)[] = [raw.contentType];
  let upload: Upload | null = null;
  for (const [name, value] of form) {
    if (typeof value === 'string') {
      fields[name] = value;
      hashed.push(name, value);
      continue;
    }
    if (name !== 'file' || upload) throw fail('file_required', { param: name });
    const bytes = new Uint8Array(await value.arrayBuffer());
    upload = { filename: value.name, contentType: value.type, bytes, form: fields };
    hashed.push(name, value.name, value.type, bytes);
  }
  if (!upload) throw fail('file_required', { param: 'file' });
  return { fields: undefined, upload, hashed };
}
