import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { type ApplyAnswer, applyFolder } from '@vestra/sdk/apply';
import type { Client } from '@vestra/sdk/client';
import { ask } from '@vestra/sdk/commands/ask';
import { VestraError } from '@vestra/sdk/errors';
import { misuse, refuse } from '../fault.ts';
import { folderMeant } from '../folder-meant.ts';
import { type FunctionProcess, startFunctions } from '../function-process.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { appliedLine, awayLine, changeLine } from '../output/work-lines.ts';
import { printError } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { watchFolder } from '../watch-folder.ts';
import { turnShownAt } from './show-turn.ts';

export const dev: OwnCommand = {
  positional: ['folder'],
  flags: [
    ['--file <name>', 'The deployment file in the folder; absent: service.yaml.'],
    ['--user <text>', 'The user to talk as; absent: the org’s own agent.'],
    [
      '--functions <file>',
      'The module that answers the functions; absent: functions.ts, .mts, .js or .mjs in the folder.',
    ],
  ],
  run,
};

async function run({ terminal, values, flags, connect, settings }: Invocation): Promise<void> {
  const { folder, file: named } = await folderMeant(
    terminal.cwd,
    values.folder as string | undefined,
    flags.file as string | undefined,
  );
  const client = await connect();
  const { signal } = terminal;
  const { mode } = await client.me.get({}, { signal });
  if (mode !== 'test') throw refuse('`vestra dev` runs the draft, which needs a test key.');

  const keyboard = keyboardOf(terminal);
  // Messages about a change must not interrupt the line that is being typed.
  const aside = { ...terminal, err: keyboard.say };
  const draft = draftOf({ terminal: aside, client, folder, file: named });
  await draft.apply();
  const file = functionsIn(folder, flags.functions as string | undefined, terminal.cwd);
  const functions = file ? lateFunctions({ terminal: aside, settings: await settings(), file, draft }) : null;
  functions?.restart();
  const stopWatching = watchFolder(folder, () => void draft.apply().then(() => functions?.restart()));
  terminal.err('Type a message. Saved changes are applied at once. Press Ctrl-C to stop.\n');
  try {
    await chat({ terminal, keyboard, client, draft, user: flags.user as string | undefined });
  } finally {
    stopWatching();
    await functions?.stop();
  }
}

function functionsIn(folder: string, named: string | undefined, cwd: string): string | null {
  if (named !== undefined) {
    const file = resolve(cwd, named);
    if (!existsSync(file))
      throw misuse(`There is no file ${named}. Write it, or name the file that exports your functions.`, '--functions');
    return file;
  }
  const names = ['functions.ts', 'functions.mts', 'functions.js', 'functions.mjs'];
  return names.map((name) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** The deployment exists only after its file was applied. */
function lateFunctions(options: Omit<Parameters<typeof startFunctions>[0], 'deployment'> & { draft: Draft }) {
  const { draft, ...rest } = options;
  let running: FunctionProcess | null = null;
  return {
    restart() {
      const deployment = draft.current()?.name;
      if (running) running.restart();
      else if (deployment) running = startFunctions({ ...rest, deployment });
    },
    stop: async () => running?.stop(),
  };
}

type Draft = { apply: () => Promise<void>; current: () => { name: string; version: number } | null };

/** The newest applied version. One apply runs at a time; a change meanwhile triggers one more. */
function draftOf(options: { terminal: Terminal; client: Client; folder: string; file: string | undefined }): Draft {
  const { terminal, client, folder, file } = options;
  let current: { name: string; version: number } | null = null;
  let running: Promise<void> | null = null;
  let isAgain = false;

  async function applyOnce(): Promise<void> {
    try {
      const { answer, uploaded, away } = await applyFolder({
        client,
        folder,
        file,
        promote: 'no',
        signal: terminal.signal,
      });
      const { slug, version } = answer as ApplyAnswer;
      for (const change of uploaded) terminal.err(`${changeLine(change, 'uploaded')}\n`);
      if (current?.version !== version.version) {
        terminal.err(`${appliedLine(answer as ApplyAnswer)}\n`);
        for (const server of away) terminal.err(`${awayLine({ paint: terminal.paintError }, server)}\n`);
      }
      current = { name: slug, version: version.version };
    } catch (error) {
      if (terminal.signal.aborted) return;
      // A half-written file does not end the command: the next save triggers another attempt.
      printError(terminal, error, { isJson: false, isDebug: false });
    }
  }

  return {
    current: () => current,
    async apply() {
      if (running) {
        isAgain = true;
        return running;
      }
      running = (async () => {
        do {
          isAgain = false;
          await applyOnce();
        } while (isAgain);
      })();
      await running.finally(() => {
        running = null;
      });
    },
  };
}

type Talk = {
  terminal: Terminal;
  keyboard: Keyboard;
  client: Client;
  draft: Draft;
  user: string | undefined;
};

/** A conversation stays on its version, so a new version starts a new conversation. */
async function chat({ terminal, keyboard, client, draft, user }: Talk): Promise<void> {
  const { signal } = terminal;
  let conversation: { id: string; version: number } | null = null;
  for await (const message of keyboard.lines()) {
    const version = draft.current();
    if (!version) {
      terminal.err('There is no draft yet: fix the file first.\n');
      continue;
    }
    if (conversation && conversation.version !== version.version) {
      terminal.err(terminal.paintError('dim', `A new conversation with version ${version.version}.\n`));
      conversation = null;
    }
    try {
      const place = conversation ? { conversation: conversation.id } : { deployment: version.name, user };
      const { end, ...shown } = turnShownAt(terminal, client);
      const talk = ask(client, { ...place, message }, { signal, untilEnd: true, ...shown });
      const { conversation_id } = await talk.finally(end);
      conversation = { id: conversation_id, version: version.version };
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof VestraError)) throw error;
      printError(terminal, error, { isJson: false, isDebug: false });
    }
  }
}

type Keyboard = {
  /** Yields the typed lines until the input ends. */
  lines: () => AsyncGenerator<string>;
  /** Prints a message without breaking the line that is being typed. */
  say: (text: string) => void;
};

const prompt = '› ';

/** Reads a chat's input. In a terminal the keyboard is released between lines, so that other prompts can use it. */
function keyboardOf({ stdin, isInteractive, signal, err }: Terminal): Keyboard {
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
