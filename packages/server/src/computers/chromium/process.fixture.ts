import { readdir, readFile } from 'node:fs/promises';

/** The processes that hold a browser's profile under this folder, as the machine knows them. */
export async function browsersUnder(folder: string): Promise<number[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    numbers.map(async (pid) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })),
  );
  return lines
    .filter(({ line }) => line.startsWith('bwrap') && line.includes(folder) && line.includes('--remote-debugging-pipe'))
    .map(({ pid }) => Number(pid));
}
