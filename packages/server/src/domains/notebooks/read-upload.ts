import { fail } from '@vestra/contract/errors';
import type { DocumentReader } from '../../adapters/documents/reader.ts';
import type { Upload } from '../../http/body.ts';
import { maxDocumentBytes, type PreparedDocument, prepareDocument, titleOf } from './notebook.ts';

type Request = { orgId: string; body: { title: string; text: string }; upload: Upload | null };

/** The document of a request, sent as JSON or as a file. */
export async function readUpload({ orgId, body, upload }: Request, reader: DocumentReader): Promise<PreparedDocument> {
  if (!upload) return prepareDocument({ ...body, contentType: 'text/plain', param: 'text' });
  const [field] = Object.keys(upload.form);
  if (field !== undefined) {
    throw fail('invalid_request', { param: field, message: `Unknown field \`${field}\`: send \`file\` alone.` });
  }
  const title = titleOf(upload.filename);
  // A character has a byte or more, so what is longer in characters is too large in any case.
  const { text, contentType } = await reader.read(upload, { orgId, maxCharacters: maxDocumentBytes });
  return prepareDocument({ title, text, contentType, param: 'file' });
}
