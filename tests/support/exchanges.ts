import { onTestFailed, TestRunner } from 'vitest';

type Exchange = { method: string; path: string; sent?: unknown; status: number; text: string };

const shown = 5;
const exchanges = new WeakMap<object, Exchange[]>();

/** A test that fails prints its last requests and their answers below its error. */
export function recordExchange({ method, path, sent, status, text }: Exchange): void {
  const test = TestRunner.getCurrentTest();
  if (!test) return;
  const known = exchanges.get(test);
  const last = known ?? [];
  if (!known) {
    exchanges.set(test, last);
    onTestFailed(({ task }) => {
      const requests = `The last requests of this test:\n${last.map(printed).join('\n')}`;
      for (const error of task.result?.errors ?? []) error.message += `\n\n${requests}`;
    });
  }
  last.push({ method, path, sent, status, text: cut(text, 500) });
  if (last.length > shown) last.shift();
}

function printed({ method, path, sent, status, text }: Exchange): string {
  const body = typeof sent === 'string' ? sent : (JSON.stringify(sent) ?? '');
  return `${method} ${cut(path, 300)} ${cut(body, 300)}\n  ${status} ${text}`;
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);
