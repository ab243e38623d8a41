import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { StartFailure } from '../db/start-failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Every setting can lie in a file that `<NAME>_FILE` names, as orchestrators hand out secrets: what stands in the
 * environment is shown by `docker inspect`, `systemctl show` and /proc, a file is not.
 */
export function withSettingsInFiles(env: Environment, names: readonly string[]): Record<string, string | undefined> {
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
  // Editors and `echo` end a file with a line end, which is no part of a key.
  const value = text.trim();
  if (value === '') throw new StartFailure(`${name} (${file}) is empty.`);
  return value;
}
