import { fail } from '@vestra/contract/errors';
import { documentTitle } from '@vestra/contract/notebooks';
import type { Upload } from '../../platform/http/multipart.ts';
import type { DocumentReader } from '../documents/reader.ts';
import { maxDocumentBytes, type PreparedDocument, prepareDocument, titleOf } from './notebook.ts';

type Request = { orgId: string; body: { title: string; text: string }; upload: Upload | null };

/** The document of a request, sent as JSON or as a file. */
export async function readUpload({ orgId, body, upload }: Request, reader: DocumentReader): Promise<PreparedDocument> {
  if (!upload) return prepareDocument({ ...body, contentType: 'text/plain', param: 'text' });
  const title = readTitle(upload);
  // A character has a byte or more, so what is longer in characters is too large in any case.
  const { text, contentType } = await reader.read(upload, { orgId, maxCharacters: maxDocumentBytes });
  return prepareDocument({ title, text, contentType, param: 'file' });
}

/** The part `title`, else the name of the file. */
function readTitle({ filename, form }: Upload): string {
  const { title, ...others } = form;
  const [field] = Object.keys(others);
  if (field !== undefined) {
    throw fail('invalid_request', {
      param: field,
      message: `Unknown field \`${field}\`: send \`file\` and \`title\`.`,
    });
  }
  const name = titleOf(filename);
  if (title === undefined) return name;
  if (documentTitle.safeParse(title).success) return title;
  throw fail('invalid_request', { param: 'title', message: 'A title has 1 to 200 characters of plain text.' });
}
