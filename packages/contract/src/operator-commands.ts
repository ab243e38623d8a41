type Flag = { value: string; required: boolean };

const needed = (value: string): Flag => ({ value, required: true });
const optional = (value: string): Flag => ({ value, required: false });

/** The commands of `vestra admin` on the operator's machine, with database access and without a key. */
export const operatorCommands = {
  'org create': {
    summary: 'Create an org with a test key, a live key, an owner and 100 test dollars.',
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
    summary: 'Create a password reset link for a console member, such as the last owner of an org.',
    flags: { email: needed('<email>') },
  },
  'memory-secret': {
    summary: 'Show the signing secret of an org’s memory endpoint.',
    flags: { org: needed('<org id>'), mode: needed('test|live') },
  },
  'policy-hook-secret': {
    summary: 'Print the signing secret of requests to VESTRA_POLICY_HOOK_URL.',
    flags: {},
  },
  'rotate-master-key': {
    summary: 'Encrypt every org’s data key with a new master key.',
    flags: {},
  },
  backup: {
    summary:
      'Write database, files and computer homes to one file, while the server runs. The master key is not included.',
    argument: '<file or folder>',
    flags: { 'master-key-file': optional('<second file for the master key>') },
  },
  restore: {
    summary: 'Restore a backup into an empty database and a new data folder.',
    argument: '<file>',
    flags: { 'master-key-file': optional('<file with the master key>') },
  },
  move: {
    summary: 'Copy all rows from the current database into another, empty one. Stop the server first.',
    flags: { to: needed('<DATABASE_URL>|embedded') },
  },
  'files copy': {
    summary:
      'Copy files and saved homes from the data folder to the bucket of VESTRA_FILES, or back; repeat it for the rest.',
    flags: { to: needed('bucket|disk'), extra: optional('keep|remove') },
  },
} satisfies Record<string, { summary: string; argument?: string; flags: Record<string, Flag> }>;
