/** The rooms of the house: what is in each, and whom it may import. The map in CONTRIBUTING.md is written from here. */

export type Room = { holds: string; imports: readonly string[] };

export const packageRooms: Record<string, Room> = {
  contract: { holds: 'every route, schema, error and event as data; zod alone, runs in a browser too', imports: [] },
  agent: { holds: 'turns, tools, approvals and budgets, on any host: the loop and its ports', imports: [] },
  models: { holds: 'which models there are, what they cost, and how each vendor is spoken to', imports: ['agent'] },
  server: { holds: 'everything that runs', imports: ['contract', 'agent', 'models', 'sdk'] },
  sdk: { holds: 'every route as a typed call, and applying a folder', imports: ['contract'] },
  python: { holds: 'the same client for Python: `pip install vestra`', imports: [] },
  cli: { holds: 'the command `vestra`', imports: ['sdk', 'contract'] },
  react: {
    holds: 'the session page as a part of a company’s own: `<vestra-session>`, its React component, the bridge',
    imports: [],
  },
  web: { holds: 'the page of a session, the console, and the guide', imports: ['sdk', 'contract', 'react'] },
};

/** Of another domain its `api.ts` alone. */
export const apiOfDomain = 'domains/*/api.ts';

/**
 * Folders of `packages/server/src`, and one file. `caller.ts`, `async/` and how a start fails are everybody's. A domain
 * also knows the shape of a handler, of a job and of an adapter; who fills it in is wired in `main/`.
 */
export const serverRooms: Record<string, Room> = {
  main: {
    holds:
      'the start: settings, a kernel of what all parts share, made once, and `assemble/`, which plugs the parts together',
    imports: ['http', 'domains', 'jobs', 'db', 'adapters', 'edges', 'pages', 'metrics'],
  },
  operator: {
    holds: 'the commands `vestra admin`',
    imports: ['main', 'db', 'adapters', apiOfDomain],
  },
  edges: { holds: 'MCP, A2A, AG-UI and OpenAI’s API, which ask the routes', imports: [apiOfDomain] },
  pages: {
    holds: 'what a browser opens: the session, the console, the screen, downloads, the guide, the API reference',
    imports: [],
  },
  metrics: { holds: 'what a process counts for its operator, and how Prometheus reads it', imports: [] },
  http: { holds: 'the way of a request: who calls, limits, idempotency, lists, streams', imports: ['db'] },
  domains: {
    holds: 'one folder per resource: its decisions, its SQL, its routes; others see its `api.ts`',
    imports: ['db', apiOfDomain],
  },
  jobs: { holds: 'work that goes on after the answer, who owns a run, what is removed when', imports: ['db'] },
  db: { holds: 'PostgreSQL: statements, transactions, migrations, what processes tell each other', imports: [] },
  adapters: { holds: 'everything outside: browsers, computers, files, secrets, other servers', imports: [] },
  async: { holds: 'waiting: until a signal, and a few at a time', imports: [] },
  'caller.ts': { holds: 'who is behind a request', imports: [] },
};

export const otherRooms: Record<string, string> = {
  tests: 'requirements as rows, tests that see the whole server, chaos',
  bench: 'benchmarks with their last results',
  deploy: 'image, compose file, chart, unit and proxies for running it',
  scripts: 'what `npm run` runs: checks, generated files, this map',
  docs: 'what users read, and `decisions/` with their reasons',
  examples: 'deployments that a test applies and talks to',
};
