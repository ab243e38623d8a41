import { copyFile, open, stat, truncate } from 'node:fs/promises';

const LARGEST_LOG = 10_000_000;

/**
 * Keeps the log from filling the disk: its content goes to `<path>.1` and the file begins anew. PostgreSQL writes by
 * appending, so it goes on at the new end without being told.
 */
export async function trimLog(path: string): Promise<void> {
  const size = await sizeOf(path);
  if (size <= LARGEST_LOG) return;
  // On a full disk the copy cannot be made, and the space is worth more than the old lines.
  await copyFile(path, `${path}.1`).catch(() => {});
  await truncate(path);
}

/** Everything that was written to the log from `offset` on, at most the last 64 KB. */
export async function readLog(path: string, offset: number): Promise<string> {
  const size = await sizeOf(path);
  const start = Math.max(offset, size - 65_536);
  if (size <= start) return '';
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
