import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readServiceFile } from '@vestra/sdk/apply/service-file';

/** The deployment named in a folder's file. */
export async function namedInFolder(folder: string, file = 'service.yaml'): Promise<string | undefined> {
  return existsSync(join(folder, file)) ? (await readServiceFile({ folder, file })).content.name : undefined;
}
