import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from '../platform/db/start-failure.ts';

/** Settings of a `.env` in the folder where a program of the server is started. What the environment has already stands. */
export function takeEnvFile(folder: string = process.cwd()): void {
  const file = join(folder, '.env');
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    throw new StartFailure(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
