import type { DeploymentFile } from './parts.ts';

/** The keys in the order in which they are documented, written and compared. */
export const fileKeys = [
  'instructions',
  'language',
  'model',
  'apps',
  'tools',
  'skills',
  'knowledge',
  'approvals',
  'memory',
  'computer',
  'browser',
  'routines',
  'limits',
  'tests',
  'webhooks',
] as const satisfies readonly (keyof DeploymentFile)[];

export type FileKey = (typeof fileKeys)[number];
