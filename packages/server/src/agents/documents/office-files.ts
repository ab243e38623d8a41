import { Parser } from 'saxen';
import { fromBufferPromise } from 'yauzl';

/** The sheets that are shown, each as a heading and a table without the columns that are empty throughout. */
export async function readXlsx(bytes: Uint8Array, maxCharacters: number): Promise<string> {
  const parts = await openParts(bytes);
  const { sheets, isFrom1904 } = readWorkbook(parts);
  const shownAs = { texts: readSharedTexts(parts), formats: readFormats(parts), isFrom1904 };
  let text = '';
  for (const { name, path } of sheets) {
    const rows = readRows(parts.read(path), shownAs, maxCharacters);
    if (rows.length > 0) text += `## ${name.replace(/\s+/g, ' ')}\n\n${tableOf(withoutEmptyColumns(rows))}\n\n`;
    if (text.length > maxCharacters) break;
  }
  return text.trim();
}

/** A row by its columns, from 0. */
type Row = Map<number, string>;
type Format = 'plain' | 'percent' | 'date' | 'time' | 'moment';
type ShownAs = { texts: readonly string[]; formats: readonly Format[]; isFrom1904: boolean };

const workbookPath = 'xl/workbook.xml';

function readWorkbook(parts: OfficeParts) {
  const workbook = parts.read(workbookPath);
  if (workbook === undefined) throw new Error('There is no workbook in the file.');
  const targets = targetsOf(parts, workbookPath);
  const sheets: { name: string; path: string }[] = [];
  let isFrom1904 = false;
  readXml(workbook, {
    open: (element, { name = '', id = '', state = 'visible', date1904 = '' }) => {
      if (element === 'workbookPr') isFrom1904 = date1904 === '1' || date1904 === 'true';
      const target = element === 'sheet' && state === 'visible' ? targets.get(id) : undefined;
      if (target) sheets.push({ name, path: target.path });
    },
  });
  return { sheets, isFrom1904 };
}

/** Texts stand once in the file, and cells name them by their number. */
function readSharedTexts(parts: OfficeParts): string[] {
  const texts: string[] = [];
  let current = '';
  let isText = false;
  let isReading = false;
  readXml(parts.read('xl/sharedStrings.xml'), {
    open: (element) => {
      if (element === 'si') current = '';
      // How a text in Japanese is pronounced is no part of it.
      else if (element === 'rPh') isReading = true;
      else if (element === 't') isText = !isReading;
    },
    close: (element) => {
      if (element === 'si') texts.push(current);
      else if (element === 'rPh') isReading = false;
      else if (element === 't') isText = false;
    },
    text: (text) => {
      if (isText) current += text;
    },
  });
  return texts;
}

/** How the cells of each style show a number: a date is one too. */
function readFormats(parts: OfficeParts): Format[] {
  const codes = new Map<string, string>();
  const formats: Format[] = [];
  let isCellStyle = false;
  readXml(parts.read('xl/styles.xml'), {
    open: (element, { numFmtId = '0', formatCode = '' }) => {
      if (element === 'numFmt') codes.set(numFmtId, formatCode);
      else if (element === 'cellXfs') isCellStyle = true;
      else if (element === 'xf' && isCellStyle) formats.push(formatOf(Number(numFmtId), codes.get(numFmtId) ?? ''));
    },
    close: (element) => {
      if (element === 'cellXfs') isCellStyle = false;
    },
  });
  return formats;
}

/** By the numbers of the formats that every file has without naming them, or by the signs of its own. */
function formatOf(id: number, code: string): Format {
  if (id === 9 || id === 10) return 'percent';
  if (id >= 14 && id <= 17) return 'date';
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return 'time';
  if (id === 22) return 'moment';
  const signs = code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '').toLowerCase();
  const [hasDay, hasHour] = [/[yd]/.test(signs), /[hs]/.test(signs)];
  if (hasDay && hasHour) return 'moment';
  if (hasDay || hasHour) return hasDay ? 'date' : 'time';
  return signs.includes('%') ? 'percent' : 'plain';
}

function readRows(xml: string | undefined, shownAs: ShownAs, maxCharacters: number): Row[] {
  const rows: Row[] = [];
  let row: Row = new Map();
  let cell = { column: -1, type: '', style: 0, value: '' };
  let isValue = false;
  let characters = 0;
  readXml(xml, {
    open: (element, { r = '', t = 'n', s = '0' }) => {
      if (element === 'row') {
        row = new Map();
        cell.column = -1;
      } else if (element === 'c') {
        cell = { column: columnOf(r) ?? cell.column + 1, type: t, style: Number(s), value: '' };
      } else isValue = element === 'v' || element === 't';
    },
    close: (element) => {
      if (element === 'v' || element === 't') isValue = false;
      else if (element === 'row' && row.size > 0) rows.push(row);
      // More than a document may hold is refused in any case: the rest need not be kept.
      if (element !== 'c' || characters > maxCharacters) return;
      const shown = shownValue(cell, shownAs).trim();
      characters += shown.length;
      if (shown !== '') row.set(cell.column, shown);
    },
    text: (text) => {
      if (isValue) cell.value += text;
    },
  });
  return rows;
}

/** Of `AB12`, 27. */
function columnOf(reference: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return null;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function shownValue({ type, style, value }: { type: string; style: number; value: string }, shownAs: ShownAs): string {
  if (type === 's') return shownAs.texts[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  const number = Number(value);
  if (type !== 'n' || value.trim() === '' || !Number.isFinite(number)) return value;
  const format = shownAs.formats[style] ?? 'plain';
  if (format === 'percent') return `${exact(number * 100)}%`;
  return format === 'plain' ? exact(number) : momentOf(number, format, shownAs.isFrom1904);
}

/** What a spreadsheet shows of 0.1 + 0.2. */
const exact = (number: number): string => String(Number(number.toPrecision(15)));

/** Days since the end of 1899, or since 1904; a part of a day is a time. */
function momentOf(days: number, format: Format, isFrom1904: boolean): string {
  const daysBefore1970 = isFrom1904 ? 24_107 : 25_569;
  const moment = new Date(Math.round((days - daysBefore1970) * 86_400) * 1000);
  if (Number.isNaN(moment.getTime())) return exact(days);
  const [day = '', time = ''] = moment.toISOString().slice(0, 16).split('T');
  if (format === 'time') return time;
  return format === 'date' ? day : `${day} ${time}`;
}

function withoutEmptyColumns(rows: readonly Row[]): string[][] {
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  return rows.map((row) => columns.map((column) => row.get(column) ?? ''));
}

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

/** The XML files in an Office file, by their path. */
type OfficeParts = { read: (path: string) => string | undefined };

/** Of each file: a larger one would fill what the process may take before anything was read of it. */
const largestPart = 48 * 1024 * 1024;

async function openParts(bytes: Uint8Array): Promise<OfficeParts> {
  const parts = new Map<string, string>();
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for await (const entry of zip.eachEntry()) {
    if (!/\.(xml|rels)$/i.test(entry.fileName) || entry.uncompressedSize > largestPart) continue;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > largestPart) throw new Error('An entry holds more than it says.');
      chunks.push(chunk);
    }
    parts.set(entry.fileName.toLowerCase(), Buffer.concat(chunks).toString('utf8'));
  }
  return { read: (path) => parts.get(path.toLowerCase()) };
}

type Hearers = {
  /** Names come without their prefix: which one a file uses is its own choice. */
  open?: (name: string, attributes: Record<string, string>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
};

/** Nothing is heard of a part that is not there. Entities of the file's own are left as they stand, so none can grow. */
function readXml(xml: string | undefined, { open, close, text }: Hearers): void {
  if (xml === undefined) return;
  const parser = new Parser();
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  parser.on('error', (error) => {
    throw error;
  });
  if (open) {
    parser.on('openTag', (name, attributes, decode) => {
      const given = Object.entries(attributes()).map(([key, value]) => [local(key), decode(value)]);
      open(local(name), Object.fromEntries(given));
    });
  }
  if (close) parser.on('closeTag', (name) => close(local(name)));
  if (text) {
    parser.on('text', (given, decode) => text(decode(given)));
    parser.on('cdata', text);
  }
  parser.parse(xml.replace(/^\ufeff/, ''));
}

/** What a file refers to, by the names that it uses for them. */
function targetsOf(parts: OfficeParts, path: string): Map<string, { path: string; type: string }> {
  const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  const targets = new Map<string, { path: string; type: string }>();
  readXml(parts.read(`${folder}/_rels/${name}.rels`), {
    open: (element, { Id = '', Target = '', TargetMode = '', Type = '' }) => {
      if (element !== 'Relationship' || TargetMode === 'External') return;
      const target = URL.parse(Target, `file:///${folder}/`);
      if (target) targets.set(Id, { path: target.pathname.slice(1), type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
  });
  return targets;
}

/** A row of a Markdown table. */
const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')).join(' | ')} |`;

/** The first row is taken for the names of the columns. */
function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [tableRow(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(tableRow)].join('\n');
}
