import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Identity } from '../sandbox/confine.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;
/** Below this the machine itself is in danger, whoever has filled it. */
const reserveBytes = 256 * megabyte;

/**
 * Tells when a folder has grown too large while something runs in it. Counting every file is dear, so it is done only
 * after the disk has lost space that may have gone here.
 */
export function watchDisk(of: { folder: string; identity: Identity | null; most: number; everyMs: number }): {
  signal: AbortSignal;
  stop: () => void;
} {
  const { folder, identity, most, everyMs } = of;
  const controller = new AbortController();
  // Small folders are counted sooner, so that a small limit holds too.
  const step = Math.min(32 * megabyte, most / 4);
  let lastFree: number | null = null;
  let isLooking = false;

  async function look(): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    lastFree ??= free;
    if (lastFree - free < step) return;
    lastFree = free;
    if (free < reserveBytes || (await sizeOf(folder, identity)) > most) controller.abort();
  }

  const timer = setInterval(() => {
    if (isLooking || controller.signal.aborted) return;
    isLooking = true;
    // A file that goes while it is counted is no reason to end anything.
    void look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  timer.unref();
  void look().catch(() => {});
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}

async function sizeOf(folder: string, identity: Identity | null): Promise<number> {
  const { stdout } = await run('du', ['-s', '-x', '-B1', '--', folder], { ...identity, cwd: '/' });
  return Number(stdout.split('\t', 1)[0]);
}
