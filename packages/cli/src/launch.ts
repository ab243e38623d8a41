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

/** Adds `start`, `doctor`, `models try`, `setup` and `admin`, which are programs of the server package. */
export function addLaunchers(program: Command, end: (code: number) => void): void {
  program
    .command('start')
    .usage('[flags]')
    .helpOption('-h, --help', 'show this help')
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
    .usage('[flags]')
    .helpOption('-h, --help', 'show this help')
    .helpGroup(headingOf('doctor'))
    .addHelpText('after', exampleLines('doctor'))
    .description(
      'Check what a server on this machine needs: installed programs, connections, folders and retiring models.',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      end(await launch(operatorProgram, ['doctor', ...(json ? ['--json'] : [])]));
    });

  program.commands
    .find((command) => command.name() === 'models')
    ?.command('try')
    .usage('[models...] [flags]')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', exampleLines('models try'))
    .description('Try models at their real provider, with the keys of this machine: what works, its cost and time.')
    .argument('[models...]', 'ids of models; absent: the default model')
    .option('--yes', 'send the requests without a question')
    .option('--record <file>', 'write all requests and responses to a file, without keys')
    .option('--json', 'print JSON')
    .action(async (models: string[], { yes, record, json }: { yes?: boolean; record?: string; json?: boolean }) => {
      const flags = [...(yes ? ['--yes'] : []), ...(record ? ['--record', record] : []), ...(json ? ['--json'] : [])];
      end(await launch(operatorProgram, ['models', 'try', ...models, ...flags]));
    });

  program
    .command('setup')
    .usage('<part> [flags]')
    .helpOption('-h, --help', 'show this help')
    .helpGroup(headingOf('setup'))
    .addHelpText('after', exampleLines('setup'))
    .description('Install optional parts on this machine: `vestra setup voice`.')
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
          ? await showOperatorHelp(words.filter((word) => !word.startsWith('-')))
          : await launch(operatorProgram, words),
      );
    });
}

/**
 * Runs the server's program on the same Node. It replaces this process if the system supports that, so that signals
 * reach the server directly; elsewhere it is a child process.
 */
async function launch(program: string, words: readonly string[], given: Record<string, string> = {}): Promise<number> {
  const command = [...nodeWords(program), ...words];
  const env = { ...memory, ...process.env, ...given };
  if (process.platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...command], env);
  const child = spawn(process.execPath, command, { stdio: 'inherit', env });
  // This process waits for the server to shut down instead of exiting first.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
  // Ctrl-C in a terminal reaches the server directly. A second signal would make it stop at once.
  const isTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  process.on('SIGINT', () => isTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
  });
}

/** The program reports its usage as an error. If the user asked for help, it is none. */
async function showOperatorHelp(words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...nodeWords(operatorProgram), ...words, '--help'], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  process.stdout.write(await text(child.stderr));
  return 0;
}

/** As in `npm start`: else glibc gives each thread an area of memory that no other thread uses, 50 MB after a load. */
const memory = { MALLOC_ARENA_MAX: '1' };

function nodeWords(program: string): string[] {
  // As in `npm start`: a young generation that fits the start, whose objects mostly survive.
  const heap = ['--min-semi-space-size=8', '--max-semi-space-size=8'];
  // Node 22 prints a warning on every start for features that are stable in 24.
  return [...heap, '--disable-warning=ExperimentalWarning', fileURLToPath(program)];
}
