import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { OutboundLog } from '../outbound/connector.ts';
import type { FileStore } from './file-store.ts';
import { createDiskStore } from './file-store.ts';

/** Opens the file store of the settings, for the server and for operator commands. */
export async function openFiles(
  { dataDir, files: { s3 } }: Pick<Config, 'dataDir' | 'files'>,
  log: OutboundLog,
): Promise<FileStore & { close: () => Promise<void> }> {
  if (s3 !== null) {
    // Loads an HTTP client, which a server with files on its disk does not need.
    const { createS3Store } = await import('./s3.ts');
    return createS3Store(s3, log);
  }
  return { ...createDiskStore(join(dataDir, 'files')), close: async () => {} };
}

/** Opens the store for one operator command. The command reports errors itself. */
export async function withFiles<Result>(config: Config, work: (files: FileStore) => Promise<Result>): Promise<Result> {
  const files = await openFiles(config, { warn: () => {} });
  try {
    return await work(files);
  } finally {
    await files.close();
  }
}
