import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartFailure } from '../db/start-failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads any setting from the file that `<NAME>_FILE` names, as orchestrators provide secrets. Variables are visible in
 * `docker inspect`, `systemctl show` and /proc; files are not.
 */
export function withFileSettings(env: Environment, names: readonly string[]): Record<string, string | undefined> {
  const found: Record<string, string | undefined> = { ...env };
  for (const name of names) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) {
      throw new StartFailure(`Both ${name} and ${name}_FILE are set. Set the one that counts.`);
    }
    found[name] = valueIn(resolve(file), `${name}_FILE`);
  }
  return found;
}

function valueIn(file: string, name: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartFailure(`${name} (${file}) cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  // Editors and `echo` end a file with a line break, which is not part of a key.
  const value = text.trim();
  if (value === '') throw new StartFailure(`${name} (${file}) is empty.`);
  return value;
}

/** Loads the `.env` file of the current folder. Variables of the environment take precedence. */
export function loadEnvFile(folder: string = process.cwd()): void {
  const file = join(folder, '.env');
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    throw new StartFailure(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
