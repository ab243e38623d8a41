import { fail } from '@vestra/contract/errors';

export type DocumentKind = 'text' | 'markdown' | 'html' | 'pdf' | 'docx';

const byContentType: Record<string, DocumentKind> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
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
};

/** Types that a client sends for any file whose name it does not know. */
const unspecific = ['', 'application/octet-stream', 'text/plain'];

export function kindOf({ filename, contentType }: { filename: string | null; contentType: string }): DocumentKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = /\.([^.]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const kind = byContentType[type] ?? (unspecific.includes(type) ? byExtension[extension] : undefined);
  if (kind) return kind;
  if (type === 'text/plain') return 'text';
  throw fail('unsupported_media_type', {
    param: 'file',
    message: `A document is text, Markdown, HTML, PDF or DOCX; ${type ? `\`${type.slice(0, 100)}\`` : 'a file without a type'} is none of these.`,
  });
}
