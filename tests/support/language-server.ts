import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const compiler = join(import.meta.dirname, '../../node_modules/.bin/tsc');

/** Hover texts of an editor. `places` names a line of the file by its text, and the word to point at. */
export async function hoverTexts(
  folder: string,
  file: string,
  places: readonly (readonly [line: string, word: string])[],
): Promise<string[]> {
  const child = spawn(compiler, ['--lsp', '--stdio'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (result: unknown) => void>();
  let arrived = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    arrived = Buffer.concat([arrived, chunk]);
    for (let message = takeMessage(); message; message = takeMessage()) {
      // The language server waits for answers to its requests: answer with nothing.
      if ('method' in message && 'id' in message) send({ id: message.id, result: null });
      else waiting.get(message.id)?.(message.result);
    }
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The language server ended.')));
  ended.catch(() => {});
  const uri = pathToFileURL(join(folder, file)).href;
  const text = readFileSync(join(folder, file), 'utf8');
  try {
    await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} });
    send({ method: 'initialized', params: {} });
    const textDocument = { uri, languageId: 'typescript', version: 1, text };
    send({ method: 'textDocument/didOpen', params: { textDocument } });
    const shown: string[] = [];
    for (const [inLine, word] of places) {
      const lines = text.split('\n');
      const line = lines.findIndex((each) => each.includes(inLine));
      const character = (lines[line] ?? '').indexOf(word, (lines[line] ?? '').indexOf(inLine));
      const hover = await ask('textDocument/hover', { textDocument: { uri }, position: { line, character } });
      shown.push(JSON.stringify((hover as { contents?: unknown } | null)?.contents ?? null));
    }
    return shown;
  } finally {
    child.kill();
  }

  function ask(method: string, params: unknown): Promise<unknown> {
    const id = waiting.size + 1;
    send({ id, method, params });
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    return Promise.race([answered, ended]);
  }

  function send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    child.stdin.write(body);
  }

  function takeMessage() {
    const head = /^Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/.exec(arrived.toString('latin1'));
    const end = head ? head[0].length + Number(head[1]) : Number.POSITIVE_INFINITY;
    if (!head || arrived.length < end) return null;
    const body = arrived.subarray(head[0].length, end).toString('utf8');
    arrived = arrived.subarray(end);
    return JSON.parse(body);
  }
}
