import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { onTestFailed, onTestFinished, TestRunner } from 'vitest';

type Exchange = { method: string; path: string; sent?: unknown; status: number; text: string };

const shown = 5;
const exchanges = new WeakMap<object, Exchange[]>();
const unanswered = new WeakMap<object, Map<object, string>>();
const logged = new WeakMap<object, string[]>();
const expected = new WeakMap<object, RegExp[]>();

/** A test that fails prints its last requests and their answers below its error. */
export function recordExchange({ method, path, sent, status, text }: Exchange): void {
  const last = notesOf(
    exchanges,
    () => [],
    (each) => `The last requests of this test:\n${each.map(printed).join('\n')}`,
  );
  keepLast(last, { method, path, sent, status, text: cut(text, 500) });
}

/** A test that fails prints the requests to the model that it left without an answer, with the last message of each. */
export async function untilAnswered<Answer>(lastMessage: unknown, answer: Answer | Promise<Answer>): Promise<Answer> {
  const open = notesOf(
    unanswered,
    () => new Map(),
    (each) => `Requests to the model without an answer: ${each.size}\n${[...each.values()].join('\n')}`,
  );
  const entry = {};
  open?.set(entry, cut(JSON.stringify(lastMessage) ?? '', 500));
  try {
    return await answer;
  } finally {
    open?.delete(entry);
  }
}

/** A test fails if its server logs an error that the test does not name: users may see no sign of it. */
export function expectErrorInLog(pattern: RegExp): void {
  const test = TestRunner.getCurrentTest();
  if (test) expected.set(test, [...(expected.get(test) ?? []), pattern]);
}

function failForError(line: string): void {
  const test = TestRunner.getCurrentTest();
  if (!test || !/"level":"(error|fatal)"/.test(line)) return;
  onTestFinished(() => {
    if (expected.get(test)?.some((pattern) => pattern.test(line))) return;
    throw new Error(`The server logged an error, which \`expectErrorInLog\` does not name: ${cut(line, 2000)}`);
  });
}

/** A test that fails prints the last warnings and errors in the log of its server. */
export function recordLogLine(line: string): void {
  failForError(line);
  const last = notesOf(
    logged,
    () => [],
    (each) => `The last warnings in the log:\n${each.join('\n')}`,
  );
  keepLast(last, cut(line.trimEnd(), 2000));
}

/** The same for a server in another process. */
export function recordLogOf(output: Readable): void {
  createInterface({ input: output }).on('line', (line) => {
    if (/^\{"level":"(warn|error|fatal)"/.test(line)) recordLogLine(line);
  });
}

/** Notes of the running test, which it prints if it fails; null outside of tests. */
function notesOf<Notes>(
  kept: WeakMap<object, Notes>,
  begin: () => Notes,
  print: (notes: Notes) => string,
): Notes | null {
  const test = TestRunner.getCurrentTest();
  if (!test) return null;
  const known = kept.get(test);
  if (known) return known;
  const notes = begin();
  kept.set(test, notes);
  onTestFailed(({ task }) => {
    for (const error of task.result?.errors ?? []) error.message += `\n\n${print(notes)}`;
  });
  return notes;
}

function keepLast<Entry>(entries: Entry[] | null, entry: Entry): void {
  entries?.push(entry);
  if (entries && entries.length > shown) entries.shift();
}

function printed({ method, path, sent, status, text }: Exchange): string {
  const body = typeof sent === 'string' ? sent : (JSON.stringify(sent) ?? '');
  return `${method} ${cut(path, 300)} ${cut(body, 300)}\n  ${status} ${text}`;
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);
