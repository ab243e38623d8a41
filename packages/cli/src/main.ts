import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };

const program = new Command('vestra')
  .description('Host an AI agent: configure it once, run it for every user.')
  .version(manifest.version)
  .showHelpAfterError();

program
  .command('start')
  .description('start the server with the settings of the environment')
  .action(() => launch('main.ts', []));

program
  .command('admin')
  .description(
    'operate the server: org create, credit, member invite, rotate-master-key, memory-secret, policy-hook-secret',
  )
  .argument('[words...]', 'the operator command and its flags')
  .allowUnknownOption()
  .helpOption(false)
  .action((_words: string[], _options: unknown, command: Command) => launch('admin.ts', command.args));

await program.parseAsync();

/** The server's own entry in a process of its own, on the same Node, in this terminal. */
function launch(entry: string, words: string[]): void {
  const server = dirname(createRequire(import.meta.url).resolve('@vestra/server/package.json'));
  // As `npm start` does: young objects get little room, which halves the memory of a server at rest.
  const node = ['--max-semi-space-size=8', join(server, 'src', entry)];
  const child = spawn(process.execPath, [...node, ...words], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}
