import { fail } from '@vestra/contract/errors';

export type DocumentKind = 'text' | 'markdown' | 'html' | 'pdf' | 'docx' | 'xlsx' | 'pptx';

const byContentType: Record<string, DocumentKind> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
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
  xlsx: 'xlsx',
  pptx: 'pptx',
};

/** Files that are text as they are. Clients send them under many types: `.ts` is also that of a film. */
const textExtensions = new Set(
  `csv tsv json jsonl ndjson yaml yml xml toml ini cfg conf properties log rst adoc tex sql graphql proto diff patch
  sh bash zsh fish ps1 bat py rb php pl lua r jl js mjs cjs jsx ts tsx mts cts vue svelte css scss less java kt kts
  scala groovy swift go rs c h cc cpp hpp cs fs ex exs erl hs clj dart tf gradle`.split(/\s+/),
);
const textType = /^(text\/.+|application\/(.+\+)?(json|x-ndjson|xml|yaml|x-yaml|toml|sql|javascript|x-sh))$/;

/** Types that a client sends for any file whose name it does not know. */
const unspecific = ['', 'application/octet-stream', 'text/plain'];

export function kindOf({ filename, contentType }: { filename: string | null; contentType: string }): DocumentKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = /\.([^.]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const kind = byContentType[type] ?? (unspecific.includes(type) ? byExtension[extension] : undefined);
  if (kind) return kind;
  if (textExtensions.has(extension) || textType.test(type)) return 'text';
  throw fail('unsupported_media_type', {
    param: 'file',
    message: `A document is text (also CSV, JSON, YAML, XML and source code), Markdown, HTML, PDF, DOCX, XLSX or PPTX; ${type ? `\`${type.slice(0, 100)}\`` : 'a file without a type'} is none of these.`,
  });
}
