import { withFiles } from '../../main/open-files.ts';
import type { Config } from '../../platform/config/config.ts';
import { bad, type Finding, ok } from './finding.ts';

/** Where files lie in a bucket: whether it is there and takes the keys. */
export async function fileFindings(config: Config): Promise<Finding[]> {
  const { s3 } = config.files;
  if (s3 === null) return [];
  const place = `s3://${s3.bucket}/${s3.prefix}`;
  // One that is not there is asked for, as the server does when it starts.
  const fault = await withFiles(config, (files) => files.has('start', 'start')).then(
    () => null,
    (error: Error) => error.message,
  );
  if (fault === null) return [ok('files', `${place} answers`)];
  return [bad('files', `${place}: ${fault}`, 'Look at VESTRA_FILES, its keys and the way to the store.')];
}
