import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { operatorCommands } from '@vestra/contract/operator-commands';
import type { Command } from 'commander';
import { headingOf } from './command-groups.ts';

const serverProgram = import.meta.resolve('@vestra/server/main/main');
const operatorProgram = import.meta.resolve('@vestra/server/operator/main');

/** `start`, `doctor` and `admin` are the server package's own entries, each in a process of its own. */
export function addLaunchers(program: Command, end: (code: number) => void): void {
  program
    .command('start')
    .helpGroup(headingOf('start'))
    .description('Start the server on this machine with the settings of the environment.')
    .option('--port <number>', 'where it listens; absent: PORT, or 4600')
    .option('--host <address>', 'absent: HOST, or 127.0.0.1')
    .action(async ({ port, host }: { port?: string; host?: string }) => {
      end(await launch(serverProgram, [], { ...(port && { PORT: port }), ...(host && { HOST: host }) }));
    });

  program
    .command('doctor')
    .helpGroup(headingOf('doctor'))
    .description('Look at what a server on this machine needs: what is installed, reachable, writable and retiring.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      end(await launch(operatorProgram, ['doctor', ...(json ? ['--json'] : [])]));
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

/** The server's own entry on the same Node, in this terminal. */
async function launch(program: string, words: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, [...nodeWords(program), ...words], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
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
  // As `npm start` does: little room for young objects, and a heap that grows slowly, halve the memory of a server.
  return ['--max-semi-space-size=8', '--heap-growing-percent=50', fileURLToPath(program)];
}
