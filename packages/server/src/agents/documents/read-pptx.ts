import { type OfficeParts, openParts, readXml, tableOf, targetsOf } from './office-parts.ts';

const presentationPath = 'ppt/presentation.xml';

/** The slides in their order: the title as a heading, texts, tables, and what the speaker wrote down for each. */
export async function readPptx(bytes: Uint8Array, maxCharacters: number, pageBreak: string): Promise<string> {
  const parts = await openParts(bytes);
  const presentation = parts.read(presentationPath);
  if (presentation === undefined) throw new Error('There is no presentation in the file.');
  const targets = targetsOf(parts, presentationPath);
  const paths: string[] = [];
  readXml(presentation, {
    open: (element, { id = '' }) => {
      const target = element === 'sldId' ? targets.get(id) : undefined;
      if (target) paths.push(target.path);
    },
  });
  let text = '';
  for (const [at, path] of paths.entries()) {
    text += `${at === 0 ? '' : pageBreak}${slideOf(parts, path)}`;
    if (text.length > maxCharacters) break;
  }
  return text.trimEnd();
}

function slideOf(parts: OfficeParts, path: string): string {
  const { isHidden, blocks } = readSlide(parts.read(path));
  // One that is not shown counts as a page all the same: the others keep their numbers.
  if (isHidden) return '';
  const notesPath = [...targetsOf(parts, path).values()].find(({ type }) => type === 'notesSlide')?.path;
  const notes = notesPath === undefined ? [] : readSlide(parts.read(notesPath)).blocks;
  const spoken = notes.filter(({ role }) => role === 'body').map(({ text }) => `Notes: ${text}`);
  const titles = blocks.filter(({ role }) => isTitle(role)).map(({ text }) => `## ${text.replace(/\s+/g, ' ')}`);
  const others = blocks.filter(({ role }) => !isTitle(role) && !isFurniture(role)).map(({ text }) => text);
  return [...titles, ...others, ...spoken].join('\n\n');
}

/** What a shape says; `role` is what the layout has it for. */
type Block = { role: string; text: string };

const isTitle = (role: string) => role === 'title' || role === 'ctrTitle';
/** The number, the date and what stands on every slide alike. */
const isFurniture = (role: string) => ['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'].includes(role);

function readSlide(xml: string | undefined): { isHidden: boolean; blocks: Block[] } {
  const blocks: Block[] = [];
  let isHidden = false;
  let role = '';
  let paragraphs: string[] = [];
  let paragraph = '';
  let rows: string[][] | null = null;
  let isText = false;
  readXml(xml, {
    open: (element, attributes) => {
      if (element === 'sld') isHidden = attributes.show === '0' || attributes.show === 'false';
      else if (element === 'sp') [role, paragraphs] = ['', []];
      else if (element === 'ph') role = attributes.type ?? 'body';
      else if (element === 'tbl') rows = [];
      else if (element === 'tr') rows?.push([]);
      else if (element === 'tc') paragraphs = [];
      else if (element === 'p') paragraph = '';
      else if (element === 'br') paragraph += '\n';
      else if (element === 't') isText = true;
    },
    close: (element) => {
      if (element === 't') isText = false;
      else if (element === 'p' && paragraph.trim() !== '') paragraphs.push(paragraph.trim());
      else if (element === 'tc') rows?.at(-1)?.push(paragraphs.join(' '));
      else if (element === 'tbl') {
        if (rows && rows.length > 0) blocks.push({ role: '', text: tableOf(rows) });
        rows = null;
      } else if (element === 'sp' && paragraphs.length > 0) blocks.push({ role, text: paragraphs.join('\n') });
    },
    text: (text) => {
      if (isText) paragraph += text;
    },
  });
  return { isHidden, blocks };
}
