import type { Terminal } from '../terminal.ts';
import { showRecord } from './show-record.ts';
import { showTable } from './show-table.ts';
import { plain, showValue } from './show-value.ts';

export type Printing = {
  isJson: boolean;
  /** The command for the next page. */
  nextPage?: (cursor: string) => string;
};

/** Prints an API response to standard output: unchanged with `--json`, else formatted. */
export function printAnswer(terminal: Terminal, answer: unknown, { isJson, nextPage }: Printing): void {
  terminal.out(isJson ? asJson(answer) : shown(terminal, answer));
  if (isJson || typeof answer !== 'object' || answer === null) return;
  const { data, next_cursor: cursor } = answer as Record<string, unknown>;
  if (isRows(data) && data.length === 0) terminal.err('Nothing found.\n');
  if (typeof cursor !== 'string' || !nextPage) return;
  terminal.err(terminal.paintError('dim', `There are more: ${nextPage(cursor)}, or --all.\n`));
}

export function printJson(terminal: Terminal, answer: unknown): void {
  terminal.out(asJson(answer));
}

const asJson = (answer: unknown) => `${JSON.stringify(answer, null, 2)}\n`;

function shown(terminal: Terminal, answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return `${showValue('', answer)}\n`;
  const { data, next_cursor: _, notes, ...beside } = answer as Record<string, unknown>;
  if (!isRows(data)) return shownRecord(terminal, answer as Record<string, unknown>);
  const rows = (data.length === 0 ? '' : showTable(terminal, data)) + shownNotes(notes);
  const more = Object.entries(beside).filter(([name, value]) => name !== 'object' && value !== null);
  return more.length === 0 ? rows : `${rows}\n${showRecord(terminal, Object.fromEntries(more))}`;
}

/** The notes of a list, one sentence per line. */
function shownNotes(notes: unknown): string {
  if (!Array.isArray(notes) || notes.length === 0) return '';
  return `\n${notes.map((note) => `${plain(String(note))}\n`).join('')}`;
}

function shownRecord(terminal: Terminal, answer: Record<string, unknown>): string {
  const { object, id, name, deleted } = answer;
  if (deleted !== true || typeof object !== 'string') return showRecord(terminal, answer);
  return `Deleted ${object.replaceAll('_', ' ')} ${plain(String(id ?? name))}.\n`;
}

const isRows = (data: unknown): data is Record<string, unknown>[] =>
  Array.isArray(data) && data.every((each) => typeof each === 'object' && each !== null);
