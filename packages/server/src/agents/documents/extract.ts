export type Extraction = {
  kind: 'html' | 'pdf' | 'docx' | 'xlsx' | 'pptx';
  content: string | Uint8Array;
  maxCharacters: number;
};
/** `reason` is a sentence for the sender of the file. */
export type ExtractionResult = { text: string } | { reason: string };

/** Never throws: an unreadable file is a normal result. */
export async function extract({ kind, content, maxCharacters }: Extraction): Promise<ExtractionResult> {
  try {
    if (kind === 'html') return { text: await readHtml(content as string) };
    if (kind === 'pdf') return { text: await readPdf(content as Uint8Array, maxCharacters) };
    if (kind === 'xlsx') return { text: await readSheets(content as Uint8Array, maxCharacters) };
    if (kind === 'pptx') return { text: await readSlides(content as Uint8Array, maxCharacters) };
    return { text: await readDocx(content as Uint8Array) };
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return {
      reason: isLocked ? 'The PDF is protected by a password.' : `The ${kind.toUpperCase()} file cannot be read.`,
    };
  }
}

/** Written between pages, also empty ones: the page number of a text is the number of breaks before it. */
const pageBreak = '\n\n\f';

/** Reads page by page and stops at the limit: a thousand pages would exceed the time limit. */
async function readPdf(bytes: Uint8Array, maxCharacters: number): Promise<string> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  let text = '';
  for (let number = 1; number <= pdf.numPages && text.length <= maxCharacters; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const lines = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
    const written = lines
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim();
    text += `${number === 1 ? '' : pageBreak}${written}`;
    page.cleanup();
  }
  return text.trimEnd();
}

/** Converts through HTML to keep headings, lists and tables. */
async function readDocx(bytes: Uint8Array): Promise<string> {
  const { default: mammoth } = await import('mammoth');
  const withoutPictures = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage: withoutPictures });
  return readHtml(value);
}

async function readSheets(bytes: Uint8Array, maxCharacters: number): Promise<string> {
  const { readXlsx } = await import('./office-files.ts');
  return readXlsx(bytes, maxCharacters);
}

async function readSlides(bytes: Uint8Array, maxCharacters: number): Promise<string> {
  const { readPptx } = await import('./office-files.ts');
  return readPptx(bytes, maxCharacters, pageBreak);
}

/** Elements without text of the page. The title would run into the first line. */
const notText = new Set(
  'title script style noscript template iframe object canvas svg button select textarea'.toUpperCase().split(' '),
);

async function readHtml(html: string): Promise<string> {
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove((node) => notText.has(node.nodeName.toUpperCase()));
  service.addRule('image', { filter: 'img', replacement: (_content, node) => imageOf(node as HTMLElement) });
  // A row must stay on one line: only the line shows which price belongs to which product.
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) => ` ${content.replace(/\s+/g, ' ').trim()} |`,
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => `|${content}\n${isHeader(node) ? ruleBelow(node) : ''}`,
  });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  service.addRule('part of a table', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  return service.turndown(html);
}

/** A data URL holds bytes, not text. */
function imageOf(node: HTMLElement): string {
  const alternative = (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim();
  const source = node.getAttribute('src') ?? '';
  if (source === '' || source.startsWith('data:')) return alternative;
  return `![${alternative}](${source})`;
}

const isHeader = (row: Node) => row.childNodes.length > 0 && [...row.childNodes].every(isHeaderPart);
const isHeaderPart = (node: Node) => node.nodeName === 'TH' || node.nodeName === '#text';
const ruleBelow = (row: Node) =>
  `|${' --- |'.repeat([...row.childNodes].filter((node) => node.nodeName === 'TH').length)}\n`;
