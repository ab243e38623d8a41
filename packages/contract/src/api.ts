import { health, limits, me, orgs } from './account.ts';
import { agUi } from './ag-ui.ts';
import { apps } from './apps.ts';
import { auditLog } from './audit-log.ts';
import { batches } from './batches.ts';
import { browser } from './browser.ts';
import { connections } from './connections.ts';
import { consoleAccount } from './console-account.ts';
import { consoleSignIn } from './console-sign-in.ts';
import { conversations } from './conversations.ts';
import { deployments } from './deployments.ts';
import { events } from './events.ts';
import { feedback } from './feedback.ts';
import { files } from './files.ts';
import { functions } from './functions.ts';
import { identityProvider } from './identity-provider.ts';
import { improvements } from './improvements.ts';
import { insights } from './insights.ts';
import { interactions } from './interactions.ts';
import { keys } from './keys.ts';
import { mcpGrants } from './mcp-grants.ts';
import { mcpServers } from './mcp-servers.ts';
import { consoleAccess, members } from './members.ts';
import { memory } from './memory.ts';
import { models } from './models.ts';
import { notebooks } from './notebooks.ts';
import { oauth } from './oauth.ts';
import { openai } from './openai.ts';
import { overview } from './overview.ts';
import { passkeys } from './passkeys.ts';
import { protocols } from './protocols.ts';
import { replays } from './replays.ts';
import type { Family, Route } from './route.ts';
import { routines } from './routines.ts';
import { scenarios } from './scenarios.ts';
import { secrets } from './secrets.ts';
import { sessions } from './sessions.ts';
import { skills } from './skills.ts';
import { tasks } from './tasks.ts';
import { testRuns } from './test-runs.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';

/** The table of every route of the service. */
const api = {
  deployments,
  scenarios,
  testRuns,
  replays,
  improvements,
  insights,
  notebooks,
  skills,
  mcpServers,
  secrets,
  conversations,
  feedback,
  interactions,
  functions,
  tasks,
  batches,
  routines,
  users,
  browser,
  memory,
  files,
  sessions,
  webhooks,
  events,
  apps,
  connections,
  protocols,
  oauth,
  openai,
  agUi,
  me,
  orgs,
  keys,
  mcpGrants,
  limits,
  usage,
  overview,
  auditLog,
  models,
  members,
  consoleAccess,
  consoleAccount,
  consoleSignIn,
  passkeys,
  identityProvider,
  health,
} satisfies Record<string, Family>;

export type Api = typeof api;

export type RouteRow = { name: string; family: keyof Api; operation: string; route: Route };

export const routes: readonly RouteRow[] = Object.entries(api).flatMap(([family, rows]) =>
  Object.entries(rows as Family).map(([operation, route]) => ({
    name: `${family}.${operation}`,
    family: family as keyof Api,
    operation,
    route,
  })),
);
