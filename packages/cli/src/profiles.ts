import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { refuse } from './fault.ts';
import type { Terminal } from './terminal.ts';

const profilesFile = z.object({
  /** The default profile. */
  current: z.string(),
  profiles: z.record(z.string(), z.object({ url: z.string(), key: z.string() })),
});

export type Profiles = z.infer<typeof profilesFile>;

function profilesPath(env: Terminal['env']): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'vestra', 'config.json');
}

export async function readProfiles(env: Terminal['env']): Promise<Profiles> {
  const path = profilesPath(env);
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: 'default', profiles: {} };
    throw refuse(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  const parsed = profilesFile.safeParse(parseOrNull(content));
  if (!parsed.success) throw refuse(`${path} is not a profile file: fix it, or remove it and run \`vestra login\`.`);
  return parsed.data;
}

/** The file contains keys: created with owner-only permissions and replaced atomically. */
export async function writeProfiles(env: Terminal['env'], profiles: Profiles): Promise<string> {
  const path = profilesPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
  return path;
}

function parseOrNull(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
