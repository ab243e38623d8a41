import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Message = { id?: number; method?: string; params?: unknown; result?: unknown };
type Fault = { message: string; range: { start: { line: number; character: number } } };

const program = join(import.meta.dirname, '../../../../node_modules/yaml-language-server/bin/yaml-language-server');

/** Starts Red Hat's YAML Language Server, the program behind the YAML support of most editors. */
export async function startLanguageServer(folder: string) {
  const child = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = new Map<number, (result: unknown) => void>();
  const faults = new Map<string, (found: Fault[]) => void>();
  let count = 0;
  let received = Buffer.alloc(0);

  const send = (message: Message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const request = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      count += 1;
      answers.set(count, resolve);
      send({ id: count, method, params });
    });

  function receive({ id, method, params, result }: Message): void {
    if (method === undefined) answers.get(id as number)?.(result);
    else if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as { uri: string; diagnostics: Fault[] };
      faults.get(uri)?.(diagnostics);
    } else if (id !== undefined) {
      // The server asks for its settings and registers what it offers: an editor without settings answers null.
      send({ id, result: method === 'workspace/configuration' ? [null, null, null, null, null] : null });
    }
  }

  child.stdout.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(received.toString('latin1'));
      const length = Number(head?.[1]);
      if (!head || received.length < head[0].length + length) return;
      const message = received.subarray(head[0].length, head[0].length + length).toString();
      received = received.subarray(head[0].length + length);
      receive(JSON.parse(message));
    }
  });

  await request('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { completion: { completionItem: { snippetSupport: false } } } },
  });
  send({ method: 'initialized', params: {} });

  return {
    /** Opens a text as a file of the folder and returns the faults that an editor would underline. */
    open: (name: string, text: string): Promise<Fault[]> => {
      const uri = pathToFileURL(join(folder, name)).href;
      const found = new Promise<Fault[]>((resolve) => faults.set(uri, resolve));
      send({
        method: 'textDocument/didOpen',
        params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
      });
      return found;
    },
    /** The words that an editor offers at a place of an opened file, with their descriptions. */
    complete: async (name: string, line: number, character: number): Promise<Map<string, string>> => {
      const uri = pathToFileURL(join(folder, name)).href;
      const answer = await request('textDocument/completion', { textDocument: { uri }, position: { line, character } });
      const { items } = answer as { items: { label: string; documentation?: string | { value: string } }[] };
      return new Map(
        items.map(({ label, documentation = '' }) => [
          label,
          typeof documentation === 'string' ? documentation : documentation.value,
        ]),
      );
    },
    stop: () => child.kill(),
  };
}
