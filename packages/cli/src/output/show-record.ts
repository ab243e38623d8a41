import type { Terminal } from '../terminal.ts';
import { showValue, widthOf } from './show-value.ts';

type Look = Pick<Terminal, 'paint'>;

/** Formats one resource as names and values, with nested objects indented. */
export function showRecord(look: Look, record: Record<string, unknown>): string {
  return `${linesOf(look, record, '').join('\n')}\n`;
}

function linesOf(look: Look, record: Record<string, unknown>, indent: string): string[] {
  const entries = Object.entries(record).filter(([name, value]) => name !== 'object' && value !== undefined);
  const flat = entries.filter(([, value]) => !isNested(value)).map(([name]) => widthOf(labelOf(name)));
  const width = Math.max(0, ...flat);
  return entries.flatMap(([name, value]) => {
    const label = look.paint('dim', labelOf(name));
    if (!isNested(value)) return textLines(label, showValue(name, value), indent, width, widthOf(labelOf(name)));
    return [`${indent}${label}`, ...nestedLines(look, value as object, `${indent}  `)];
  });
}

function nestedLines(look: Look, value: object, indent: string): string[] {
  if (!Array.isArray(value)) return linesOf(look, value as Record<string, unknown>, indent);
  return value.flatMap((each) => {
    if (!isNested(each)) return [`${indent}- ${showValue('', each)}`];
    const [first = '', ...rest] = nestedLines(look, each as object, `${indent}  `);
    return [`${indent}- ${first.trimStart()}`, ...rest];
  });
}

/** A text of several lines is printed below its name, so that scripts and replies stay readable. */
function textLines(label: string, text: string, indent: string, width: number, labelWidth: number): string[] {
  if (!text.includes('\n')) return [`${indent}${label}${' '.repeat(width - labelWidth + 2)}${text}`];
  return [
    `${indent}${label}`,
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `${indent}  ${line}`.trimEnd()),
  ];
}

function isNested(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((each) => typeof each === 'object' && each !== null);
  return Object.keys(value).length > 0;
}

const labelOf = (name: string) => name.replaceAll('_', ' ');
