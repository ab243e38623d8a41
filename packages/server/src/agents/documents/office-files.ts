import { Parser } from 'saxen';
import { fromBufferPromise } from 'yauzl';

/** Returns the visible sheets, each as a heading and a table without empty columns. */
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

/** Cells by column, counted from 0. */
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

/** The file stores each text once, and cells refer to it by number. */
function readSharedTexts(parts: OfficeParts): string[] {
  const texts: string[] = [];
  let current = '';
  let isText = false;
  let isReading = false;
  readXml(parts.read('xl/sharedStrings.xml'), {
    open: (element) => {
      if (element === 'si') current = '';
      // `rPh` is the pronunciation of a Japanese text, not part of it.
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

/** The number format of each cell style. Dates are numbers too. */
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

/** Built-in formats are known by number, custom ones by their format code. */
function formatOf(id: number, code: string): Format {
  if (id === 9 || id === 10) return 'percent';
  if (id >= 14 && id <= 17) return 'date';
  if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return 'time';
  if (id === 22) return 'moment';
  const signs = code.replace(/"[^"]*"|\\.|\[[^[\]]*\]/g, '').toLowerCase();
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
      // A longer document is refused anyway, so the rest is dropped.
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

/** `AB12` is in column 27, counted from 0. */
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

/** Rounds like a spreadsheet, which shows 0.1 + 0.2 as 0.3. */
const exact = (number: number): string => String(Number(number.toPrecision(15)));

/** A spreadsheet counts days from the end of 1899 or from 1904. The fraction is the time of day. */
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

/** Returns the slides in order: title as a heading, texts, tables and speaker notes. */
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
  // A hidden slide keeps its page number, so that the others keep theirs.
  if (isHidden) return '';
  const notesPath = [...targetsOf(parts, path).values()].find(({ type }) => type === 'notesSlide')?.path;
  const notes = notesPath === undefined ? [] : readSlide(parts.read(notesPath)).blocks;
  const spoken = notes.filter(({ role }) => role === 'body').map(({ text }) => `Notes: ${text}`);
  const titles = blocks.filter(({ role }) => isTitle(role)).map(({ text }) => `## ${text.replace(/\s+/g, ' ')}`);
  const others = blocks.filter(({ role }) => !isTitle(role) && !isFurniture(role)).map(({ text }) => text);
  return [...titles, ...others, ...spoken].join('\n\n');
}

/** The text of a shape, with its placeholder role. */
type Block = { role: string; text: string };

const isTitle = (role: string) => role === 'title' || role === 'ctrTitle';
/** Slide numbers, dates, headers and footers. */
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

/** The XML parts of an Office file by path. */
type OfficeParts = { read: (path: string) => string | undefined };

/** Limit per part: a larger one would exceed the memory of the process. */
const maxPartBytes = 48 * 1024 * 1024;

async function openParts(bytes: Uint8Array): Promise<OfficeParts> {
  const parts = new Map<string, string>();
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for await (const entry of zip.eachEntry()) {
    if (!/\.(xml|rels)$/i.test(entry.fileName) || entry.uncompressedSize > maxPartBytes) continue;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxPartBytes) throw new Error('An entry is larger than it declares.');
      chunks.push(chunk);
    }
    parts.set(entry.fileName.toLowerCase(), Buffer.concat(chunks).toString('utf8'));
  }
  return { read: (path) => parts.get(path.toLowerCase()) };
}

type XmlHandlers = {
  /** Element and attribute names come without their namespace prefix, which differs between files. */
  open?: (name: string, attributes: Record<string, string>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
};

/** A missing part calls no handler. Custom entities are not expanded, so they cannot grow. */
function readXml(xml: string | undefined, { open, close, text }: XmlHandlers): void {
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

/** Relationships of a part, by id. */
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

/** The first row becomes the header. */
function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [tableRow(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(tableRow)].join('\n');
}
