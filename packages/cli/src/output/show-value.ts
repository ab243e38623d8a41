import { stripVTControlCharacters } from 'node:util';

/** Formats a value for people: local time, money, sizes, yes and no. */
export function showValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return showNumber(name, value);
  if (typeof value === 'string') return isTime(value) ? showTime(value) : plain(value);
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
    return value.length === 0 ? '–' : value.map((each) => showValue(name, each)).join(', ');
  }
  return isEmpty(value) ? '–' : plain(JSON.stringify(value));
}

export function showMoney(dollars: number): string {
  const size = Math.abs(dollars).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 5 });
  return `${dollars < 0 ? '-' : ''}$${size}`;
}

/** Formats a time in the local time zone. */
export function showTime(written: string): string {
  const at = new Date(written);
  const two = (part: number) => String(part).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/**
 * Removes control characters from foreign text: a reply or name must not move the cursor, set the title or hide a line.
 * Newlines and tabs stay.
 */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** The display width: CJK characters and most emoji take two columns, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts to at most `width` columns and adds an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = used + (wide.test(segment) ? 2 : 1);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept}…`;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;

function showNumber(name: string, value: number): string {
  if (name.endsWith('_usd') || name === 'usd') return showMoney(value);
  if (name === 'share') return `${Math.round(value * 1000) / 10} %`;
  if (name === 'bytes' || name.endsWith('_bytes')) return showBytes(value);
  if (name.endsWith('_ms')) return value < 1000 ? `${value} ms` : `${(value / 1000).toFixed(1)} s`;
  return String(value);
}

function showBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

const isEmpty = (value: object) => Object.keys(value).length === 0;

const isTime = (text: string) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(text);
