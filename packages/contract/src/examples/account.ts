import { exampleId, exampleTime, type Step, step } from './step.ts';

const key = { key_id: exampleId('key', 2) };
const member = { member_id: exampleId('mbr', 2) };
const app = { app: 'github' };

const connection = {
  object: 'connection',
  id: exampleId('con'),
  app: 'github',
  user_id: 'nora',
  auth: 'oauth',
  status: 'pending',
  connect_url: 'https://github.com/login/oauth/authorize?client_id=Iv23liAbCdEf&state=…',
  account: null,
  expires_at: null,
  renews: false,
  error: null,
  created_at: exampleTime,
};

const appClient = {
  object: 'app_client',
  app: 'github',
  mode: 'test',
  client_id: 'Iv23liAbCdEf',
  has_secret: true,
  auth_method: null,
  issuer: 'https://github.com/login/oauth',
  redirect_uri: 'https://vestra.example.com/v1/connections/callback',
  created_at: exampleTime,
  updated_at: exampleTime,
};

const asksAnApp = 'it asks an app of somebody else';

/** The org itself: its keys, limits, people and apps. */
export const account: readonly Step[] = [
  step('health.get', { as: 'nobody' }),
  step('me.get'),
  step('models.list'),
  step('orgs.get'),
  step('orgs.update', { body: { allowed_embed_origins: ['https://shop.example.com'], memory_panel: true } }),
  step('orgs.update', { body: { memory_endpoint: 'https://shop.example.com/memory' } }),
  step('orgs.rollMemorySecret'),
  step('limits.get'),
  step('limits.update', { body: { caps: { user_daily_usd: 5 }, usage_alerts: { thresholds: [50, 90] } } }),
  step('keys.list'),
  step('keys.create', { body: { name: 'Warehouse', scopes: ['runtime'] } }),
  step('events.list', { query: { type: 'key.created', limit: 1 } }),
  step('events.get', { params: { event_id: exampleId('evt') } }),
  step('keys.roll', { params: key, body: { grace_seconds: 3600 } }),
  step('keys.revoke', { params: key }),
  step('apps.list', { query: { limit: 1 } }),
  step('apps.putClient', {
    params: app,
    body: { client_id: 'Iv23liAbCdEf', client_secret: 'a-secret-of-the-client' },
    unsent: { because: asksAnApp, answer: appClient },
  }),
  step('apps.getClient', { params: app, unsent: { because: asksAnApp, answer: appClient } }),
  step('apps.deleteClient', {
    params: app,
    unsent: { because: asksAnApp, answer: { object: 'app_client', app: 'github', deleted: true } },
  }),
  step('connections.create', {
    body: { user_id: 'nora', app: 'github' },
    unsent: { because: asksAnApp, answer: connection },
  }),
  step('connections.list'),
  step('connections.callback', {
    query: { state: 'st_…', code: 'co_…' },
    as: 'nobody',
    unsent: { because: asksAnApp, answer: '<!doctype html><title>Connected</title>…' },
  }),
  step('connections.delete', {
    params: { connection_id: exampleId('con') },
    unsent: { because: asksAnApp, answer: { object: 'connection', id: exampleId('con'), deleted: true } },
  }),
  step('members.list'),
  step('members.invite', { body: { email: 'ada@shop.example.com', role: 'developer' }, as: 'live' }),
  step('members.accept', {
    body: { token: 'token_1', name: 'Ada Lovelace', password: 'correct horse battery' },
    as: 'nobody',
  }),
  step('members.update', { params: member, body: { role: 'admin' }, as: 'live' }),
  step('members.resetPassword', { params: member, as: 'live' }),
  step('consoleAccess.resetPassword', { body: { token: 'token_2', password: 'a longer horse battery' }, as: 'nobody' }),
  step('consoleAccess.login', {
    body: { email: 'ada@shop.example.com', password: 'a longer horse battery' },
    as: 'nobody',
  }),
  step('consoleAccess.session', { as: 'console' }),
  step('consoleAccount.show', { as: 'console' }),
  step('consoleAccount.update', { body: { name: 'Ada King' }, as: 'console' }),
  step('consoleAccount.changePassword', {
    body: { password: 'a longer horse battery', new_password: 'an even longer battery' },
    as: 'console',
  }),
  step('consoleAccess.login', {
    body: { email: 'ada@shop.example.com', password: 'an even longer battery' },
    as: 'nobody',
  }),
  step('consoleAccount.signIns', { as: 'console' }),
  step('consoleAccount.endSignIn', { params: { console_session_id: exampleId('cses', 2) }, as: 'console' }),
  step('consoleAccess.login', {
    body: { email: 'ada@shop.example.com', password: 'an even longer battery' },
    as: 'nobody',
  }),
  step('consoleAccount.endOtherSignIns', { as: 'console' }),
  step('consoleAccess.logout', { as: 'console' }),
  step('members.remove', { params: member, as: 'live' }),
];

/** What was spent and done. */
export const reports: readonly Step[] = [
  step('usage.report', { query: { group_by: 'user' } }),
  step('auditLog.list', { query: { limit: 1 } }),
];
