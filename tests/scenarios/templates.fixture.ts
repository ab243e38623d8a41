import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Starts the tool server of an IT desk on a free port until the test ends, and puts its address into the file. */
export async function startTickets(folder: string, given: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, [join(folder, 'tickets.js')], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...given },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [printed] = await once(child.stdout, 'data');
  const url = /http:\S+/.exec(String(printed))?.[0] as string;
  const file = join(folder, 'service.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('http://127.0.0.1:8931/mcp', url));
  return url;
}
