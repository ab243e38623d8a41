/** The packages and the modules of the server, with their allowed imports. CONTRIBUTING.md shows this table. */

export type Module = { holds: string; imports: readonly string[] };

export const packages: Record<string, Module> = {
  contract: { holds: 'every route, schema, error and event as data; imports only zod, runs in a browser', imports: [] },
  agent: { holds: 'the agent loop with its ports: turns, tools, approvals, budgets', imports: [] },
  models: { holds: 'the catalogue of models with prices, and a client per vendor', imports: ['agent'] },
  server: { holds: 'the server', imports: ['contract', 'agent', 'models', 'sdk'] },
  sdk: { holds: 'the TypeScript client', imports: ['contract'] },
  python: { holds: 'the Python client: `pip install vestra`', imports: [] },
  cli: { holds: 'the command `vestra`', imports: ['sdk', 'contract'] },
  react: { holds: 'the embeddable session: `<vestra-session>`, its React component, the bridge', imports: [] },
  web: { holds: 'the session page, the console and the guide', imports: ['sdk', 'contract', 'react'] },
};

/** Modules of `packages/server/src`. Each imports only modules above it, through their `index.ts`. */
export const serverModules: Record<string, Module> = {
  platform: {
    holds:
      'database, HTTP pipeline, jobs, cluster calls, files, secrets, outbound requests, sandbox, metrics; no business rules',
    imports: [],
  },
  account: {
    holds: 'orgs, keys, members and sign-in, the OAuth server, audit log, events, secrets, telemetry',
    imports: ['platform'],
  },
  billing: { holds: 'the ledger: charges, holds, caps, alerts, usage', imports: ['platform'] },
  agents: {
    holds: 'deployments and their versions, notebooks, skills, tool servers',
    imports: ['platform', 'account'],
  },
  users: { holds: 'end users, their memory, their erasure', imports: ['platform', 'account', 'billing', 'agents'] },
  engine: {
    holds: 'conversations, tasks, interactions and files; the transitions and runs behind them',
    imports: ['platform', 'account', 'billing', 'agents', 'users'],
  },
  computers: {
    holds: 'the computer and browser of a user, with their sandbox and Chromium client',
    imports: ['platform', 'account', 'billing', 'agents', 'users', 'engine'],
  },
  voice: {
    holds: 'voice calls: WebRTC, speech recognition, speech synthesis',
    imports: ['platform', 'account', 'billing', 'users', 'engine'],
  },
  automation: {
    holds: 'routines, batches, webhooks',
    imports: ['platform', 'account', 'billing', 'agents', 'users', 'engine'],
  },
  integrations: {
    holds: 'apps (OAuth connections), functions, embedded sessions',
    imports: ['platform', 'account', 'agents', 'users', 'engine', 'computers', 'voice', 'automation'],
  },
  evaluation: {
    holds: 'scenarios, test runs, replays, feedback, insights, improvements',
    imports: ['platform', 'account', 'billing', 'agents', 'users', 'engine'],
  },
  release: {
    holds: 'applying service.yaml, promotion, the interview',
    imports: ['platform', 'account', 'agents', 'engine', 'automation', 'evaluation'],
  },
  edges: {
    holds: 'MCP, A2A, AG-UI and the OpenAI-compatible API, which call the routes',
    imports: ['platform', 'account', 'agents', 'engine', 'integrations'],
  },
  pages: {
    holds: 'pages a browser opens: session, console, screen, downloads, guide, reference',
    imports: ['platform'],
  },
  main: { holds: 'start-up: settings, kernel, the list of modules', imports: ['*'] },
  operator: { holds: 'the commands `vestra admin`', imports: ['*'] },
};

/** Folders of the engine. Each imports only itself and the ones before it. */
export const engineFolders = [
  'records',
  'activity',
  'transitions',
  'files',
  'turns',
  'tools',
  'questions',
  'runs',
  'interactions',
  'conversations',
  'tasks',
];

export const otherFolders: Record<string, string> = {
  tests: 'requirements as rows, tests of the whole server, chaos',
  bench: 'benchmarks with their last results',
  deploy: 'image, compose file, chart, systemd unit and proxy settings',
  scripts: 'the programs behind `npm run`: checks and generated files',
  docs: 'the guide, and `decisions/`',
  examples: 'deployments that a test applies and uses',
};
