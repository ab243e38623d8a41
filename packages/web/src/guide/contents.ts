/** The order in which the pages are read, in groups. A page of `docs/` that is named nowhere stands at the end. */
const contents: readonly { title: string; pages: readonly string[] }[] = [
  { title: 'Get started', pages: ['getting-started', 'concepts', 'language'] },
  {
    title: 'Talk to the agent',
    pages: ['conversations', 'events', 'interactions', 'functions', 'sessions', 'embedding', 'voice', 'webhooks'],
  },
  { title: 'Money and users', pages: ['users-and-money', 'modes', 'going-live'] },
  {
    title: 'Build the agent',
    pages: ['deployment-file', 'models', 'reasoning-and-pictures', 'tests', 'versions', 'knowledge', 'memory'],
  },
  { title: 'Tools', pages: ['tool-servers', 'apps', 'files', 'computer', 'browser', 'routines'] },
  { title: 'Clients', pages: ['console', 'cli', 'sdk', 'python', 'openai', 'ag-ui', 'mcp', 'a2a'] },
  {
    title: 'Operate',
    pages: [
      'production',
      'operating',
      'security',
      'console-sign-in',
      'scaling',
      'several-processes',
      'high-availability',
      'reverse-proxies',
      'backup',
      'upgrading',
      'metrics',
      'benchmarks',
    ],
  },
  { title: 'Migrate', pages: ['migrating-from-openai', 'migrating-from-langgraph', 'migrating-from-dify'] },
  { title: 'Reference', pages: ['reference', 'errors', 'routes', 'session-access', 'changelog'] },
];

type Group = { title: string; pages: string[] };

/** The groups with the pages that there are, and at the end those that no group names. */
export function groupsOf(names: readonly string[]): Group[] {
  const listed = new Set(contents.flatMap(({ pages }) => pages));
  const groups = contents.map(({ title, pages }) => ({ title, pages: pages.filter((page) => names.includes(page)) }));
  const others = names.filter((name) => !listed.has(name));
  return [...groups, { title: 'More', pages: others }].filter(({ pages }) => pages.length > 0);
}

/** Where the title of a page is longer than the list is wide, or another word is what people look for. */
export const shortTitles: Readonly<Record<string, string>> = {
  conversations: 'Conversations and events',
  interactions: 'Approvals and questions',
  language: 'Glossary',
  models: 'Models and providers',
  versions: 'Versions',
  console: 'Console',
  computer: 'Computer',
  browser: 'Browser',
  cli: 'Command line',
  sdk: 'TypeScript SDK',
  python: 'Python SDK',
  openai: 'OpenAI-compatible API',
  mcp: 'MCP',
  production: 'Deploying',
  operating: 'Operating',
  'migrating-from-openai': 'From OpenAI',
  'migrating-from-langgraph': 'From LangGraph',
  'migrating-from-dify': 'From Dify',
};
