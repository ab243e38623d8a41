import { join } from 'node:path';
import { createDiskStore } from '../adapters/files/disk.ts';
import type { FileStore } from '../adapters/files/file-store.ts';
import type { Config } from './config.ts';

/** Where the bytes of files lie, for the server and for the operator's commands alike. */
export const openFiles = ({ dataDir }: Config): FileStore => createDiskStore(join(dataDir, 'files'));
