import { area } from '../requirement.ts';

/** Backup, restore, move and upgrades. */
export const keeping = area('keeping', 'done', [
  [
    'OPS-101',
    'docs/backup.md · Backing up',
    'A backup taken while turns run is the database as it was at one moment: every turn that was answered before it is in it, events are without gaps, and every transfer of money sums to zero.',
  ],
  [
    'OPS-102',
    'docs/backup.md · Restoring',
    'A backup restored on another machine goes on there: keys log in, secrets open with the master key, files are the same byte for byte, what waits can be answered, and homes of computers lie where they belong.',
  ],
  [
    'OPS-103',
    'docs/backup.md · Backing up',
    'The master key is in no backup; a second file gets it where that is asked for.',
  ],
  [
    'OPS-104',
    'docs/backup.md · Restoring',
    'A backup that is cut off, changed in any byte that counts, or no backup at all is refused before anything is written.',
  ],
  [
    'OPS-105',
    'docs/backup.md · Restoring',
    'A restore without the right master key is refused before anything is written.',
  ],
  [
    'OPS-106',
    'docs/backup.md · Restoring',
    'A database with rows in it, or with a server on it, is neither restored nor moved into.',
  ],
  [
    'OPS-107',
    'docs/backup.md · Restoring',
    'A backup of a newer version is refused with a sentence that names both; one of an older version is brought up to this one.',
  ],
  [
    'OPS-108',
    'docs/backup.md · Restoring',
    'No server starts on a database whose restore was killed half way, and the same restore can be run again.',
  ],
  [
    'OPS-109',
    'docs/backup.md · Moving',
    '`vestra admin move` brings every row into another empty database and back, counted on both sides, and leaves the first as it was.',
  ],
  [
    'OPS-110',
    'docs/upgrading.md · From 0.1.0 to 0.2.0',
    'A data folder of version 0.1.0 is brought up to this version: keys, secrets, money, versions, notebooks, skills, memory, files, routines and sessions are as they were.',
  ],
  [
    'OPS-111',
    'docs/upgrading.md · From 0.1.0 to 0.2.0',
    'What waited or ran in a data folder of version 0.1.0 goes on after the upgrade: approvals and questions can be answered and the work ends.',
  ],
]);
