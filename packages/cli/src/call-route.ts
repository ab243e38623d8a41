import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from '@vestra/contract/derive/commands';
import type { Client } from '@vestra/sdk/client';
import type { Request, TypedArguments } from './build-request.ts';
import { refuse } from './fault.ts';
import type { Invocation } from './invocation.ts';
import { printAnswer, printJson } from './output/print-answer.ts';
import { plain } from './output/show-value.ts';
import { uploadOf } from './upload.ts';

type Call = Invocation & { command: Command; typed: TypedArguments; request: Request };

/** Runs a command that calls one route and prints the response. */
export async function callRoute(call: Call): Promise<void> {
  const { terminal, isJson, command, typed, request } = call;
  const row = command.route?.name as string;
  const client = await call.connect({ needsKey: command.scopes !== null });
  const body = await uploadOf(terminal, command, typed, request.body);
  const placed = { params: request.params, query: request.query, body };
  const { signal } = terminal;
  if (typed.flags.all) return printAnswer(terminal, await readAll(client, row, placed, signal), { isJson });

  const answer = await client.request(row, placed, { signal });
  if (typeof answer === 'string') return terminal.out(answer.endsWith('\n') ? answer : `${answer}\n`);
  if (answer instanceof Uint8Array) return keepPicture(call, answer);
  if (isStream(answer)) return printStream(call, answer);
  printAnswer(terminal, answer, { isJson, nextPage: (cursor) => `--cursor ${plain(cursor)}` });
}

/** Joins all pages. The fields besides the rows are from the first page. */
async function readAll(client: Client, row: string, placed: Request, signal: AbortSignal): Promise<unknown> {
  const first = (await client.request(row, largest(placed), { signal })) as Page;
  const data = [...first.data];
  let cursor = first.next_cursor;
  while (cursor) {
    const next = { ...placed, query: { ...largest(placed).query, cursor } };
    const page = (await client.request(row, next, { signal })) as Page;
    data.push(...page.data);
    cursor = page.next_cursor;
  }
  return { ...first, data, next_cursor: null };
}

type Page = { data: unknown[]; next_cursor: string | null };

/** Uses the largest page size to save requests. */
const largest = (placed: Request): Request => ({ ...placed, query: { limit: '100', ...placed.query } });

/** Prints one event per line until the server or the user ends the stream. */
async function printStream({ terminal, isJson }: Call, stream: AsyncIterable<unknown>): Promise<void> {
  for await (const event of stream) {
    if (isJson) terminal.out(`${JSON.stringify(event)}\n`);
    else printAnswer(terminal, withoutPictures(event), { isJson });
  }
}

/** A picture as text would fill the screen. */
function withoutPictures(event: unknown): unknown {
  if (typeof event !== 'object' || event === null) return event;
  return Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name,
      typeof value === 'string' && value.startsWith('data:') ? `${value.length} characters` : value,
    ]),
  );
}

async function keepPicture({ terminal, isJson, typed }: Call, bytes: Uint8Array): Promise<void> {
  const out = typed.flags.out as string | undefined;
  if (out === undefined) {
    if (terminal.columns !== null)
      throw refuse('The response is a picture: set --out to a path, or redirect it with >.');
    return terminal.out(bytes);
  }
  const path = resolve(terminal.cwd, out);
  await writeFile(path, bytes);
  if (isJson) printJson(terminal, { path, bytes: bytes.length });
  else terminal.out(`Wrote ${path}.\n`);
}

const isStream = (answer: unknown): answer is AsyncIterable<unknown> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
