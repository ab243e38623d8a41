import { type OfficeParts, openParts, readXml, tableOf, targetsOf } from './office-parts.ts';

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
