import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { misuse, refuse } from '../fault.ts';
import { startFunctions } from '../function-process.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { namedInFolder } from '../named-in-folder.ts';
import { keyMissing } from '../settings.ts';
import { watchFolder } from '../watch-folder.ts';

export const functionsServe: OwnCommand = {
  positional: ['file'],
  flags: [['--watch', 'Restart on every change below the folder of the file.']],
  run,
};

async function run({ terminal, values, flags, settings }: Invocation): Promise<number> {
  const file = resolve(terminal.cwd, values.file as string);
  if (!existsSync(file))
    throw misuse(`There is no file ${values.file}. Write it, or name the file that exports your functions.`, 'file');
  const used = await settings();
  if (used.key === null) throw refuse(keyMissing(used.url));
  if (used.notice) terminal.err(terminal.paintError('dim', `${used.notice}\n`));
  const deployment =
    (values.deployment as string | undefined) ??
    (await namedInFolder(dirname(file))) ??
    (await namedInFolder(terminal.cwd));
  if (!deployment)
    throw misuse('Name the deployment: --deployment, or a service.yaml next to the file.', '--deployment');

  const concurrency = values.concurrency as number | undefined;
  const functions = startFunctions({ terminal, settings: used, file, deployment, concurrency });
  const stopWatching = flags.watch ? watchFolder(dirname(file), functions.restart) : null;
  // Running calls may finish: a service manager moves a service with SIGTERM.
  const stopped = new Promise<void>((resolveStopped) => {
    const stop = () => void functions.stop().then(resolveStopped);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    terminal.signal.addEventListener('abort', stop, { once: true });
  });
  // A module that cannot be loaded ends the command, unless the folder is watched.
  const code = await Promise.race([stopped.then(() => 0), ...(stopWatching ? [] : [functions.ended])]);
  stopWatching?.();
  return code;
}
