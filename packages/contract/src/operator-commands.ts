type Flag = { value: string; required: boolean };

const needed = (value: string): Flag => ({ value, required: true });
const optional = (value: string): Flag => ({ value, required: false });

/** The commands of `vestra admin` on the operator's machine, with database access and without a key. */
export const operatorCommands = {
  'org create': {
    summary: 'Create an org with a test key, a live key, an owner and 100 test dollars.',
    flags: { name: needed('<name>'), 'owner-email': optional('<email>') },
  },
  'org export': {
    summary: 'Freeze an org and write everything of it to one file, for another installation. The org stays frozen.',
    arguments: { org: '<org id>', file: '<file>' },
    flags: { 'key-file': needed('<new file for the transport key>'), 'wait-seconds': optional('<seconds>') },
  },
  'org import': {
    summary: 'Import an org from such a file. It stays frozen until it is activated.',
    arguments: { file: '<file>' },
    flags: { 'key-file': needed('<file with the transport key>') },
  },
  'org hand-over': {
    summary: 'Give a frozen org up for the import with this receipt, for good; prints the code that activates it.',
    arguments: { org: '<org id>' },
    flags: { receipt: needed('<receipt of the import>') },
  },
  'org activate': {
    summary: 'Activate an imported org with the code of its hand-over.',
    arguments: { org: '<org id>' },
    flags: { code: needed('<code of the hand-over>') },
  },
  'org release': {
    summary: 'Undo an export before the hand-over, or an import before it is activated.',
    arguments: { org: '<org id>' },
    flags: {},
  },
  'org remove': {
    summary: 'Delete rows, files and homes of an org that was handed over.',
    arguments: { org: '<org id>' },
    flags: {},
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
  partition: {
    summary:
      'Split large tables into a partition per week or month, while the server runs, so that old rows are dropped.',
    flags: { table: optional('events|steps|deliveries|audit|all'), by: optional('week|month') },
  },
  backup: {
    summary:
      'Write database, files and computer homes to one file, while the server runs. The master key is not included.',
    arguments: { file: '<file or folder>' },
    flags: { 'master-key-file': optional('<second file for the master key>') },
  },
  restore: {
    summary: 'Restore a backup into an empty database and a new data folder.',
    arguments: { file: '<file>' },
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
} satisfies Record<string, { summary: string; arguments?: Record<string, string>; flags: Record<string, Flag> }>;
