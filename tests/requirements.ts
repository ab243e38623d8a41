import type { Area } from './requirement.ts';
import { a2a } from './requirements/a2a.ts';
import { account } from './requirements/account.ts';
import { agUi } from './requirements/ag-ui.ts';
import { answers } from './requirements/answers.ts';
import { apply } from './requirements/apply.ts';
import { apps } from './requirements/apps.ts';
import { audit } from './requirements/audit.ts';
import { authentication } from './requirements/authentication.ts';
import { batches } from './requirements/batches.ts';
import { browser } from './requirements/browser.ts';
import { computer } from './requirements/computer.ts';
import { consoleArea } from './requirements/console.ts';
import { conversations } from './requirements/conversations.ts';
import { criteria } from './requirements/criteria.ts';
import { deletion } from './requirements/deletion.ts';
import { deliveries } from './requirements/deliveries.ts';
import { deploy } from './requirements/deploy.ts';
import { deploymentFile } from './requirements/deployment-file.ts';
import { deployments } from './requirements/deployments.ts';
import { embeddings } from './requirements/embeddings.ts';
import { errors } from './requirements/errors.ts';
import { events } from './requirements/events.ts';
import { failover } from './requirements/failover.ts';
import { fileStores } from './requirements/file-stores.ts';
import { files } from './requirements/files.ts';
import { firstHour } from './requirements/first-hour.ts';
import { functions } from './requirements/functions.ts';
import { growth } from './requirements/growth.ts';
import { guide } from './requirements/guide.ts';
import { hardening } from './requirements/hardening.ts';
import { idempotency } from './requirements/idempotency.ts';
import { imports } from './requirements/import.ts';
import { improvements } from './requirements/improvements.ts';
import { insights } from './requirements/insights.ts';
import { interactions } from './requirements/interactions.ts';
import { interview } from './requirements/interview.ts';
import { jobs } from './requirements/jobs.ts';
import { keys } from './requirements/keys.ts';
import { limits } from './requirements/limits.ts';
import { lists } from './requirements/lists.ts';
import { manifest } from './requirements/manifest.ts';
import { mcpEndpoint } from './requirements/mcp-endpoint.ts';
import { mcpServers } from './requirements/mcp-servers.ts';
import { members } from './requirements/members.ts';
import { memory } from './requirements/memory.ts';
import { messages } from './requirements/messages.ts';
import { models } from './requirements/models.ts';
import { money } from './requirements/money.ts';
import { moving } from './requirements/moving.ts';
import { notebooks } from './requirements/notebooks.ts';
import { offline } from './requirements/offline.ts';
import { openai } from './requirements/openai.ts';
import { operating } from './requirements/operating.ts';
import { otlp } from './requirements/otlp.ts';
import { packages } from './requirements/packages.ts';
import { pictures } from './requirements/pictures.ts';
import { plan } from './requirements/plan.ts';
import { processes } from './requirements/processes.ts';
import { python } from './requirements/python.ts';
import { rateLimits } from './requirements/rate-limits.ts';
import { reasoning } from './requirements/reasoning.ts';
import { records } from './requirements/records.ts';
import { requests } from './requirements/requests.ts';
import { retention } from './requirements/retention.ts';
import { routines } from './requirements/routines.ts';
import { runs } from './requirements/runs.ts';
import { scenarios } from './requirements/scenarios.ts';
import { search } from './requirements/search.ts';
import { secrets } from './requirements/secrets.ts';
import { sessionPage } from './requirements/session-page.ts';
import { sessions } from './requirements/sessions.ts';
import { skills } from './requirements/skills.ts';
import { start } from './requirements/start.ts';
import { tasks } from './requirements/tasks.ts';
import { templates } from './requirements/templates.ts';
import { tenancy } from './requirements/tenancy.ts';
import { testRuns } from './requirements/test-runs.ts';
import { tools } from './requirements/tools.ts';
import { usage } from './requirements/usage.ts';
import { users } from './requirements/users.ts';
import { versions } from './requirements/versions.ts';
import { voice } from './requirements/voice.ts';
import { waiting } from './requirements/waiting.ts';
import { webhooks } from './requirements/webhooks.ts';

/** The rules that `docs/` states, by family. Tests cite a row by its id in their titles. */
export const areas: readonly Area[] = [
  plan,
  reasoning,
  requests,
  lists,
  idempotency,
  functions,
  growth,
  guide,
  packages,
  pictures,
  processes,
  python,
  rateLimits,
  errors,
  authentication,
  templates,
  tenancy,
  account,
  keys,
  members,
  limits,
  money,
  moving,
  usage,
  audit,
  secrets,
  start,
  deploy,
  operating,
  jobs,
  deployments,
  manifest,
  versions,
  deploymentFile,
  apply,
  imports,
  improvements,
  tools,
  waiting,
  scenarios,
  testRuns,
  interview,
  notebooks,
  skills,
  mcpServers,
  consoleArea,
  conversations,
  criteria,
  records,
  messages,
  events,
  insights,
  interactions,
  answers,
  tasks,
  runs,
  batches,
  routines,
  users,
  memory,
  embeddings,
  failover,
  fileStores,
  files,
  firstHour,
  sessions,
  sessionPage,
  browser,
  computer,
  webhooks,
  deletion,
  deliveries,
  models,
  offline,
  mcpEndpoint,
  a2a,
  openai,
  agUi,
  apps,
  voice,
  hardening,
  otlp,
  retention,
  search,
];
