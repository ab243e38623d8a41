import { area } from '../requirement.ts';

export const moving = area('moving', 'done', [
  [
    'MOVE-701',
    'docs/moving-an-org.md#what-moves',
    'A register names every table of the database as moved or as staying with a reason. A new table that it lacks fails a test.',
  ],
  [
    'MOVE-702',
    'docs/moving-an-org.md#freeze-and-export',
    'An export freezes the org: callers get 503 org_moving with Retry-After, and no task, routine, delivery or expiry of it starts. Runs that do not end in time are parked at their last recorded step.',
  ],
  [
    'MOVE-703',
    'docs/moving-an-org.md#stopping-a-move',
    'A release before the hand-over makes the org active again, and its parked tasks continue.',
  ],
  [
    'MOVE-704',
    'docs/moving-an-org.md#secrets',
    'No secret, key or data key can be read from an archive without its transport key.',
  ],
  [
    'MOVE-705',
    'docs/moving-an-org.md#import',
    'An import that was killed leaves no row, and the repeated command completes it.',
  ],
  ['MOVE-706', 'docs/moving-an-org.md#import', 'A repeated import changes nothing and prints the same receipt.'],
  [
    'MOVE-707',
    'docs/moving-an-org.md#hand-over-and-activate',
    'An imported org is refused to callers and runs nothing before it is activated with the code that is signed for this import.',
  ],
  [
    'MOVE-708',
    'docs/moving-an-org.md#hand-over-and-activate',
    'After the hand-over the org never runs where it was: it cannot be released, and no second import gets a code. A hand-over is refused if a row was written after the export.',
  ],
  [
    'MOVE-709',
    'docs/moving-an-org.md#what-moves',
    'After the move every GET route answers the same key with the same bytes, except addresses, signatures and the use of keys.',
  ],
  [
    'MOVE-710',
    'docs/moving-an-org.md#what-moves',
    'Open approvals, parked tasks, schedules, webhooks, memory, homes, passwords and secrets work in the new installation, and the ledger sums are equal.',
  ],
  [
    'MOVE-711',
    'docs/moving-an-org.md#hand-over-and-activate',
    'The installation that the org left writes nothing of it any more.',
  ],
  [
    'MOVE-712',
    'docs/moving-an-org.md#after-the-move',
    'An org that was handed over can be removed with its rows, files and homes. An active one is refused.',
  ],
  [
    'MOVE-713',
    'docs/moving-an-org.md#import',
    'An archive is refused before anything is written if it was changed, names paths or tables of its own, has rows of another org or ids that are in use, names a row of another org, or has another database schema.',
  ],
  [
    'MOVE-714',
    'docs/moving-an-org.md#people',
    'An imported password opens the imported org alone, whatever logins of the same email the installation has.',
  ],
  [
    'MOVE-720',
    'docs/cells.md#cells-behind-one-address',
    'HAProxy leads a request to the cell of its key, org or host, and refuses one that names none.',
  ],
  [
    'MOVE-721',
    'docs/cells.md#cells-behind-one-address',
    'An org moves from one cell to the other behind the same address, and its keys stay the same.',
  ],
]);
