import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { operatorCommands } from '@vestra/contract/operator-commands';
import type { Command } from 'commander';
import { headingOf } from './command-groups.ts';
import { exampleLines } from './examples.ts';

const serverProgram = import.meta.resolve('@vestra/server/main/main');
const operatorProgram = import.meta.resolve('@vestra/server/operator/main');

/** `start`, `doctor`, `setup` and `admin` are the server package's own programs. */
export function addLaunchers(program: Command, end: (code: number) => void): void {
  program
    .command('start')
    .helpGroup(headingOf('start'))
    .addHelpText('after', exampleLines('start'))
    .description('Start the server on this machine with the settings of the environment.')
    .option('--port <number>', 'where it listens; absent: PORT, or 4600')
    .option('--host <address>', 'absent: HOST, or 127.0.0.1')
    .action(async ({ port, host }: { port?: string; host?: string }) => {
      end(await launch(serverProgram, [], { ...(port && { PORT: port }), ...(host && { HOST: host }) }));
    });

  program
    .command('doctor')
    .helpGroup(headingOf('doctor'))
    .addHelpText('after', exampleLines('doctor'))
    .description('Look at what a server on this machine needs: what is installed, reachable, writable and retiring.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      end(await launch(operatorProgram, ['doctor', ...(json ? ['--json'] : [])]));
    });

  program
    .command('setup')
    .helpGroup(headingOf('setup'))
    .addHelpText('after', exampleLines('setup'))
    .description('Add what the base install leaves out to this machine: `vestra setup voice`.')
    .argument('<part>', 'voice')
    .option('--json', 'print JSON')
    .action(async (part: string, { json }: { json?: boolean }, command: Command) => {
      if (part !== 'voice') command.error(`There is no part \`${part}\` to add. There is: voice.`);
      end(await launch(operatorProgram, ['setup', part, ...(json ? ['--json'] : [])]));
    });

  program
    .command('admin')
    .helpGroup(headingOf('admin'))
    .description(`Operate the server: ${Object.keys(operatorCommands).join(', ')}.`)
    .argument('[words...]', 'the operator command and its flags')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (_words: string[], _options: unknown, command: Command) => {
      const words = command.args;
      end(
        words.some((word) => word === '--help' || word === '-h')
          ? await showOperatorHelp()
          : await launch(operatorProgram, words),
      );
    });
}

/**
 * The server's own program on the same Node. It takes the place of this process where the system knows how, so that the
 * process somebody started is the one that serves and hears the signals; elsewhere it is a child.
 */
async function launch(program: string, words: readonly string[], given: Record<string, string> = {}): Promise<number> {
  const command = [...nodeWords(program), ...words];
  const env = { ...process.env, ...given };
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...command], env);
  const child = spawn(process.execPath, command, { stdio: 'inherit', env });
  // The server ends in its own time: this process waits for it instead of leaving first.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
  // Ctrl-C in a terminal reaches the server by itself; a second one would tell it to end at once.
  const isTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGINT', () => isTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
  });
}

/** The entry says how it is used when it gets a command it does not know; asked for, that is no error. */
async function showOperatorHelp(): Promise<number> {
  const child = spawn(process.execPath, [...nodeWords(operatorProgram), 'help'], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  process.stdout.write(await text(child.stderr));
  return 0;
}

function nodeWords(program: string): string[] {
  // As `npm start` does: room for the young objects of a start, which nearly all stay, and little for those of a server.
  const heap = ['--min-semi-space-size=8', '--max-semi-space-size=8'];
  // Node 22 calls parts experimental that are none on 24, on every start.
  return [...heap, '--disable-warning=ExperimentalWarning', fileURLToPath(program)];
}
