import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FolderSize, measureFolder } from '../../platform/sandbox/measure-folder.ts';

/** What a browser may take of the machine. */
export type BrowserLimits = { profile: FolderSize; memoryBytes: number };

const megabyte = 1024 * 1024;
export const defaultBrowserLimits: BrowserLimits = {
  profile: { bytes: 2048 * megabyte, files: 100_000 },
  memoryBytes: 3072 * megabyte,
};

/** What sites may store is half of it: a page that asks for more is told so, long before the browser is ended. */
export const storageFlags = ({ profile }: BrowserLimits): string[] => [
  `--enable-features=StorageQuotaSettings:PoolSizeBytes/${Math.floor(profile.bytes / 2)}`,
  `--disk-cache-size=${Math.floor(profile.bytes / 16)}`,
];

/**
 * A profile that has grown too large would keep its browser from ever running again. What sites have stored goes; where
 * people are signed in stays, as far as that lies in cookies.
 */
export async function emptyIfTooLarge(folder: string, most: FolderSize): Promise<void> {
  if (!(await isTooLarge(folder, most))) return;
  await removeAllBut(folder, ['Default', 'Local State']);
  await removeAllBut(join(folder, 'Default'), ['Cookies', 'Cookies-journal', 'Preferences']);
  if (await isTooLarge(folder, most)) await removeAllBut(folder, []);
}

async function isTooLarge(folder: string, most: FolderSize): Promise<boolean> {
  const { bytes, files } = await measureFolder(folder);
  return bytes > most.bytes || files > most.files;
}

async function removeAllBut(folder: string, kept: readonly string[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => !kept.includes(each))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
