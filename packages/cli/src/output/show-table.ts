import type { Terminal } from '../terminal.ts';
import { columnsFor, headingOf, valueAt } from './columns.ts';
import { cut, showValue, widthOf } from './show-value.ts';

type Look = Pick<Terminal, 'columns' | 'paint'>;

const gap = '  ';

/** Formats rows under headings. In a terminal no line wraps: the last column is shortened first. */
export function showTable(look: Look, rows: readonly Record<string, unknown>[]): string {
  const paths = columnsFor(rows);
  const cells = rows.map((row) => paths.map((path) => oneLine(showValue(nameOf(path), valueAt(row, path)))));
  const headings = paths.map(headingOf);
  const widths = headings.map((heading, at) =>
    Math.max(widthOf(heading), ...cells.map((line) => widthOf(line[at] as string))),
  );
  const lines = [headings, ...cells].map((line, at) => {
    const text = line
      .map((cell, column) => pad(cell, widths[column] as number))
      .join(gap)
      .trimEnd();
    const shown = look.columns === null ? text : cut(text, look.columns);
    return at === 0 ? look.paint('dim', shown) : shown;
  });
  return `${lines.join('\n')}\n`;
}

const nameOf = (path: string) => path.split('.').at(-1) as string;

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)));
