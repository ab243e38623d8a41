import { area } from '../requirement.ts';

export const fileStores = area('file-stores', 'done', [
  [
    'STORE-001',
    'docs/files.md#file-storage',
    'Content of a file store is read back whole and by ranges, listed and removed, on a disk and in a bucket, streamed both ways.',
  ],
  [
    'STORE-002',
    'docs/files.md#file-storage',
    "No org reads another's content, and no name leads out of an org's part.",
  ],
  [
    'STORE-003',
    'docs/files.md#file-storage',
    'Partial content is never visible, and no content is stored or read under a hash that it does not have.',
  ],
  [
    'STORE-004',
    'docs/files.md#when-the-store-is-unreachable',
    'A store that fails for a moment is asked again, and a download that breaks off is resumed.',
  ],
  [
    'STORE-005',
    'docs/files.md#when-the-store-is-unreachable',
    'A store that is unreachable or full answers 503 with Retry-After, nothing is half recorded, and it is used again by itself.',
  ],
  ['STORE-006', 'docs/files.md#a-bucket', 'No credential of the store stands in a log, an error or an answer.'],
  [
    'STORE-007',
    'docs/files.md#direct-downloads',
    'A signed address gives one file, to be saved and never shown, for a minute, and is in no log.',
  ],
  [
    'STORE-008',
    'docs/files.md#when-the-store-is-unreachable',
    'Content that could not be removed from the store with its file is removed later.',
  ],
  [
    'STORE-009',
    'docs/files.md#when-the-store-is-unreachable',
    'Work whose result cannot be stored now learns that and continues.',
  ],
  [
    'STORE-010',
    'docs/computer-isolation.md#without-a-shared-disk',
    'The home of a computer is brought with all its files to the machine on which it wakes; if the newest is already there, nothing is downloaded.',
  ],
  [
    'STORE-011',
    'docs/computer-isolation.md#without-a-shared-disk',
    'A saved home that is damaged, cut or too large is not put in the place of the one that is there.',
  ],
  [
    'STORE-012',
    'docs/computer-isolation.md#without-a-shared-disk',
    'A home is saved only if anything in it has changed.',
  ],
  [
    'STORE-013',
    'docs/computer-isolation.md#without-a-shared-disk',
    'A process that has lost a computer saves nothing of it, and what was prepared after the last save is prepared again.',
  ],
  [
    'STORE-014',
    'docs/computer-isolation.md#without-a-shared-disk',
    'A computer is saved while it is awake, and does not sleep while it cannot be saved.',
  ],
  [
    'STORE-015',
    'docs/computer-isolation.md#without-a-shared-disk',
    'A machine that is killed costs one wake on another one, and what was not saved yet.',
  ],
]);
