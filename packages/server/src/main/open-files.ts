import { join } from 'node:path';
import type { Config } from '../platform/config/config.ts';
import { createDiskStore } from '../platform/files/disk.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { OutboundLog } from '../platform/outbound/connector.ts';

/** Where the bytes of files lie, for the server and for the operator's commands alike. */
export async function openFiles(
  { dataDir, files: { s3 } }: Pick<Config, 'dataDir' | 'files'>,
  log: OutboundLog,
): Promise<FileStore & { close: () => Promise<void> }> {
  if (s3 !== null) {
    // With it comes an HTTP client, which a server whose files are on its disk has no use for.
    const { createS3Store } = await import('../platform/files/s3.ts');
    return createS3Store(s3, log);
  }
  return { ...createDiskStore(join(dataDir, 'files')), close: async () => {} };
}

/** For as long as an operator's command takes. What fails is told by the command itself. */
export async function withFiles<Result>(config: Config, work: (files: FileStore) => Promise<Result>): Promise<Result> {
  const files = await openFiles(config, { warn: () => {} });
  try {
    return await work(files);
  } finally {
    await files.close();
  }
}
