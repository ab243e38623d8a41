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

const unanswered = new WeakMap<object, Map<object, string>>();

/** A test that fails prints the requests to the model that it left without an answer, with the last message of each. */
export async function untilAnswered<Answer>(lastMessage: unknown, answer: Answer | Promise<Answer>): Promise<Answer> {
  const test = TestRunner.getCurrentTest();
  if (!test) return answer;
  const known = unanswered.get(test);
  const open = known ?? new Map<object, string>();
  if (!known) {
    unanswered.set(test, open);
    onTestFailed(({ task }) => {
      const requests = `Requests to the model without an answer: ${open.size}\n${[...open.values()].join('\n')}`;
      for (const error of task.result?.errors ?? []) error.message += `\n\n${requests}`;
    });
  }
  const entry = {};
  open.set(entry, cut(JSON.stringify(lastMessage) ?? '', 500));
  try {
    return await answer;
  } finally {
    open.delete(entry);
  }
}

function printed({ method, path, sent, status, text }: Exchange): string {
  const body = typeof sent === 'string' ? sent : (JSON.stringify(sent) ?? '');
  return `${method} ${cut(path, 300)} ${cut(body, 300)}\n  ${status} ${text}`;
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);
