import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { isPlainFileName } from '@vestra/contract/files';
import { detectLanguage } from './language.ts';
import { outlineOf } from './outline.ts';
import { type Passage, splitPassages } from './passages.ts';
import type { NotebookRow } from './tables.ts';

const kilobyte = 1024;
export const maxDocumentBytes = 512 * kilobyte;
const maxNotebookBytes = 5 * kilobyte * kilobyte;
const maxDocuments = 1000;
const maxTitleCharacters = 200;

export type Access = { mode: 'all' } | { mode: 'users'; user_ids: string[] };

export const readersOf = (access: Access): string[] | null =>
  access.mode === 'all' ? null : [...new Set(access.user_ids)];

/** A file's own name, cut where it is longer than a title may be. */
export function titleOf(filename: string | null): string {
  if (filename === null || !isPlainFileName(filename)) throw fail('invalid_filename', { param: 'file' });
  return [...filename].slice(0, maxTitleCharacters).join('');
}

/** A document that keeps the limits, with everything that its text alone decides. */
export type PreparedDocument = {
  title: string;
  contentType: string;
  language: string;
  bytes: number;
  sha256: string;
  passages: Passage[];
};

/** `param` is the field the text came in, for the refusal. */
export function prepareDocument(given: {
  title: string;
  text: string;
  contentType: string;
  param: 'text' | 'file';
}): PreparedDocument {
  const { title, text, contentType, param } = given;
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxDocumentBytes) {
    throw fail('document_too_large', {
      param,
      message: `The text has ${bytes} bytes, and a document may hold at most ${maxDocumentBytes}.`,
    });
  }
  return {
    title,
    contentType,
    language: detectLanguage(text),
    bytes,
    sha256: createHash('sha256').update(text, 'utf8').digest('hex'),
    passages: splitPassages(text, outlineOf(title, text)),
  };
}

export function assertRoomFor(notebook: Pick<NotebookRow, 'bytes' | 'document_count'>, bytes: number): void {
  if (notebook.document_count >= maxDocuments) {
    throw fail('notebook_full', {
      message: `The notebook holds ${maxDocuments} documents already, and takes no more.`,
    });
  }
  if (notebook.bytes + bytes > maxNotebookBytes) {
    throw fail('notebook_full', {
      message: `The notebook holds ${notebook.bytes} bytes of text; ${bytes} more would pass its ${maxNotebookBytes}.`,
    });
  }
}
