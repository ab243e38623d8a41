import { type IdPrefix, newId } from '@vestra/contract/ids';
import type { Route } from '@vestra/contract/route';

const prefixOf: Record<string, IdPrefix> = {
  grant_id: 'grant',
  key_id: 'key',
  org_id: 'org',
  message_id: 'msg',
  member_id: 'mbr',
  passkey_id: 'pky',
  console_session_id: 'cses',
  scenario_id: 'scn',
  run_id: 'trun',
  replay_id: 'rpl',
  improvement_id: 'imp',
  notebook_id: 'nb',
  document_id: 'doc',
  skill_id: 'skl',
  server_id: 'mcp',
  conversation_id: 'conv',
  interaction_id: 'int',
  task_id: 'task',
  turn_id: 'turn',
  batch_id: 'bat',
  routine_id: 'rtn',
  memory_id: 'mem',
  file_id: 'file',
  session_id: 'ses',
  endpoint_id: 'whk',
  delivery_id: 'whd',
  event_id: 'evt',
  connection_id: 'con',
  deployment_id: 'dep',
  call_id: 'call',
};

const others: Record<string, string> = {
  name: 'NAME',
  app: 'nothing',
  version: '1',
  model: 'nobody',
  response_id: 'resp_none',
};

/** The path of a route with well-formed parameters that name nothing. */
export const pathOf = (route: Route): string =>
  route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const prefix = prefixOf[name];
    // Each path names another user: a route that creates the user of its path would let the next one find it.
    const value = prefix ? newId(prefix) : name === 'user_id' ? newId('req') : others[name];
    if (!value) throw new Error(`No sample for the path parameter ${name} of ${route.path}.`);
    return value;
  });

/** Bodies that pass validation. */
const bodies: Record<string, unknown> = {
  'deployments.create': { name: 'a' },
  'deployments.put': { name: 'a' },
  'deployments.interview': { deployment: 'a', describe: 'b' },
  'scenarios.create': { name: 'a', persona: 'b', goal: 'c', success_criteria: ['d'] },
  'notebooks.create': { name: 'a', slug: 'table-test' },
  'notebooks.createDocument': { title: 'a', text: 'b' },
  'skills.create': { files: [{ path: 'SKILL.md', content: 'a' }] },
  'skills.put': { files: [{ path: 'SKILL.md', content: 'a' }] },
  'skills.replace': { files: [{ path: 'SKILL.md', content: 'a' }] },
  'mcpServers.create': { name: 'a', slug: 'a', url: 'https://mcp.example.com/' },
  'secrets.put': { value: 'a' },
  'conversations.send': { message: 'a' },
  'interactions.answer': { approve: true },
  'batches.create': { items: [{ message: 'a' }] },
  'routines.create': { ask: 'a', every: 'day at 7am' },
  'routines.trigger': { a: 1 },
  'users.create': { user_id: 'a' },
  'browser.fetch': { url: 'https://example.com/', capture: [{ match: 'a' }] },
  'memory.create': { text: 'a' },
  'webhooks.create': { url: 'https://hooks.example.com/', events: ['*'] },
  'connections.create': { app: 'a' },
  'keys.create': { name: 'a', scopes: ['runtime'] },
  'members.invite': { email: 'a@example.com', role: 'developer' },
  'members.accept': { token: 'a', name: 'a', password: 'a password that is long' },
  'openai.chat': { model: 'nobody', messages: [{ role: 'user', content: 'a' }] },
  'openai.respond': { model: 'nobody', input: 'a' },
  'agUi.run': { threadId: 'a', runId: 'b', messages: [{ id: 'c', role: 'user', content: 'a' }] },
  'consoleAccess.login': { email: 'a', password: 'b' },
};

export const fittingBody = (name: string): unknown => bodies[name] ?? {};
