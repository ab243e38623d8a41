import type { openai } from '@vestra/contract/openai';
import type { ResponseOf } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import type { Upload } from '../../platform/http/multipart.ts';
import { userIdFrom } from './user-id.ts';

type ShownFile = ResponseOf<(typeof openai)['createFile']>;
type StoredFile = Awaited<ReturnType<Client['files']['create']>>;

/** Uploads through our own route, which checks the name and the size. */
export async function uploadFile(
  client: Client,
  { filename, contentType, bytes, form }: Upload,
  idempotencyKey: string | undefined,
): Promise<ShownFile> {
  const file = new File([new Uint8Array(bytes)], filename ?? '', { type: contentType });
  const stored = await client.files.create({ user_id: userIdFrom(form.user), file }, { idempotencyKey });
  return shownFile(stored, form.purpose?.slice(0, 100));
}

/** The purpose is not stored: a file here is always data for a message. */
export const shownFile = (
  { id, size_bytes, created_at, filename }: StoredFile,
  purpose: string | undefined = 'user_data',
): ShownFile => ({
  id,
  object: 'file',
  bytes: size_bytes ?? 0,
  created_at: Math.floor(Date.parse(created_at) / 1000),
  filename: filename ?? id,
  purpose,
  status: 'processed',
});
