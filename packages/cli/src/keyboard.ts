import { createInterface, type Interface } from 'node:readline/promises';
import type { Terminal } from './terminal.ts';

export type Keyboard = {
  /** Yields the typed lines until the input ends. */
  lines: () => AsyncGenerator<string>;
  /** Prints a message without breaking the line that is being typed. */
  say: (text: string) => void;
};

const prompt = '› ';

/** Reads a chat's input. In a terminal the keyboard is released between lines, so that other prompts can use it. */
export function keyboardOf({ stdin, isInteractive, signal, err }: Terminal): Keyboard {
  let reader: Interface | null = null;

  async function* lines(): AsyncGenerator<string> {
    if (!isInteractive) {
      for await (const line of createInterface({ input: stdin, signal })) if (line.trim()) yield line;
      return;
    }
    while (!signal.aborted) {
      const line = await readLine();
      if (line === null) return;
      if (line.trim()) yield line;
    }
  }

  async function readLine(): Promise<string | null> {
    const own = createInterface({ input: stdin, output: process.stdout, prompt });
    const left = new AbortController();
    // Readline captures Ctrl-C, which should end the whole command.
    own.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    own.once('close', () => left.abort());
    reader = own;
    try {
      return await own.question(prompt, { signal: AbortSignal.any([signal, left.signal]) });
    } catch {
      return null;
    } finally {
      reader = null;
      own.close();
    }
  }

  return {
    lines,
    say(text) {
      if (!reader) return err(text);
      err(`\r\u001b[K${text}`);
      reader.prompt(true);
    },
  };
}
