/** The headings of `vestra help`, and the first words of the commands below each. */
const groups: readonly [string, readonly string[]][] = [
  [
    'Build and chat:',
    [
      'init',
      'import',
      'diff',
      'apply',
      'test',
      'improve',
      'dev',
      'ask',
      'answer',
      'trace',
      'embed',
      'open',
      'events',
      'logs',
      'listen',
    ],
  ],
  [
    'Configuration:',
    [
      'deployments',
      'versions',
      'scenarios',
      'test-runs',
      'replays',
      'insights',
      'improvements',
      'notebooks',
      'documents',
      'skills',
      'mcp-servers',
      'secrets',
      'webhooks',
      'functions',
    ],
  ],
  [
    'Running:',
    [
      'conversations',
      'feedback',
      'interactions',
      'tasks',
      'batches',
      'routines',
      'users',
      'browser',
      'memory',
      'files',
      'sessions',
      'apps',
      'app-clients',
      'connections',
    ],
  ],
  [
    'Account:',
    [
      'me',
      'org',
      'keys',
      'mcp-grants',
      'limits',
      'overview',
      'usage',
      'audit-log',
      'models',
      'members',
      'identity-provider',
      'health',
    ],
  ],
  [
    'This machine:',
    ['start', 'status', 'whoami', 'doctor', 'setup', 'admin', 'login', 'logout', 'profiles', 'completion'],
  ],
];

const order = groups.flatMap(([, words]) => words);

export const headingOf = (word: string): string => groups.find(([, words]) => words.includes(word))?.[0] ?? 'Commands:';

/** Commands follow the order of the table above; unlisted ones come last. */
export const placeOf = (word: string): number => {
  const at = order.indexOf(word);
  return at === -1 ? order.length : at;
};
