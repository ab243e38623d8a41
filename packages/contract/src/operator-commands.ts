type Flag = { value: string; required: boolean };

const needed = (value: string): Flag => ({ value, required: true });
const optional = (value: string): Flag => ({ value, required: false });

/** The commands of `vestra admin` on the operator's machine, with database access and without a key. */
export const operatorCommands = {
  'org create': {
    summary: 'Make another org with a test key, a live key, an owner and 100 test dollars.',
    flags: { name: needed('<name>'), 'owner-email': optional('<email>') },
  },
  credit: {
    summary: 'Add money to the wallet of an org.',
    flags: { org: needed('<org id>'), mode: needed('test|live'), usd: needed('<dollars>') },
  },
  'member invite': {
    summary: 'Invite a person to the console of an org; prints the link to send them.',
    flags: { org: needed('<org id>'), email: needed('<email>'), role: needed('owner|admin|developer') },
  },
  'member reset-password': {
    summary: 'Make a link with which a person chooses a new console password, such as the last owner of an org.',
    flags: { email: needed('<email>') },
  },
  'memory-secret': {
    summary: 'Show what calls to the memory endpoint of an org are signed with.',
    flags: { org: needed('<org id>'), mode: needed('test|live') },
  },
  'policy-hook-secret': {
    summary: 'Print the secret that questions to VESTRA_POLICY_HOOK_URL are signed with.',
    flags: {},
  },
  'rotate-master-key': {
    summary: 'Seal every org’s data key under a new master key.',
    flags: {},
  },
  backup: {
    summary:
      'Write database, files and homes of computers to one file, while the server runs. The master key is not in it.',
    argument: '<file or folder>',
    flags: { 'master-key-file': optional('<second file for the master key>') },
  },
  restore: {
    summary: 'Bring a backup into an empty database and a new data folder.',
    argument: '<file>',
    flags: { 'master-key-file': optional('<file with the master key>') },
  },
  move: {
    summary: 'Bring all rows from the database in use into another, empty one. Stop the server first.',
    flags: { to: needed('<DATABASE_URL>|embedded') },
  },
  'files copy': {
    summary:
      'Copy files and saved homes from the data folder to the bucket of VESTRA_FILES, or back; again for the rest.',
    flags: { to: needed('bucket|disk'), extra: optional('keep|remove') },
  },
} satisfies Record<string, { summary: string; argument?: string; flags: Record<string, Flag> }>;
