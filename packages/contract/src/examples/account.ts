import { type ExampleCall, exampleId, exampleTime, exampleUrl, step } from './step.ts';

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

const identityProvider = {
  object: 'identity_provider',
  issuer: 'https://accounts.google.com',
  client_id: '1234.apps.googleusercontent.com',
  allowed_domains: ['shop.example.com'],
  default_role: 'developer',
  role_claim: null,
  roles_by_claim: {},
  password_sign_in: true,
  has_client_secret: true,
  sign_in_url: `${exampleUrl}/v1/console/sign-in/${exampleId('org')}`,
  redirect_uri: `${exampleUrl}/v1/console/sign-in/callback`,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const passkey = {
  object: 'passkey',
  id: exampleId('pky'),
  name: 'Laptop',
  created_at: exampleTime,
  last_used_at: null,
};
const signedIn = {
  object: 'console_session',
  member: {
    object: 'member',
    id: exampleId('mbr', 2),
    email: 'ada@shop.example.com',
    name: 'Ada King',
    role: 'developer',
    status: 'active',
    created_at: exampleTime,
  },
  org: { id: exampleId('org'), name: 'Maple & Thread', status: 'active' },
  orgs: [{ id: exampleId('org'), name: 'Maple & Thread', status: 'active', role: 'developer' }],
  mode: 'test',
  may: ['deployments.list', 'conversations.send'],
  has_password: true,
  csrf_token: 'a-token-for-changes',
  expires_at: exampleTime,
};
const ofDevice = { id: 'credential-of-the-device', type: 'public-key', response: {} };
const options = { challenge: 'c2lnbiB0aGlz', rpId: 'vestra.example.com', userVerification: 'required' };

const clientsQuery = `${new URLSearchParams({
  response_type: 'code',
  client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
  redirect_uri: 'https://claude.ai/api/mcp/auth_callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  resource: `${exampleUrl}/v1/mcp`,
  state: 'xyz',
})}`;

const asksAnApp = 'it asks an app of somebody else';
const asksTheProvider = 'it asks an identity provider of somebody else';
const needsDevice = 'a device makes and proves the key';
const needsBrowser = 'a member lets a client in with a browser';
const toBrowser = 'it sends a browser on, and answers nothing to read';

/** The org itself: its keys, limits, members and apps. */
export const account: readonly ExampleCall[] = [
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
  step('mcpGrants.list'),
  step('mcpGrants.revoke', {
    params: { grant_id: exampleId('grant') },
    unsent: { because: needsBrowser, answer: { object: 'mcp_grant', id: exampleId('grant'), deleted: true } },
  }),
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
  step('identityProvider.set', {
    body: {
      issuer: 'https://accounts.google.com',
      client_id: '1234.apps.googleusercontent.com',
      client_secret: 'a-secret-of-the-client',
      allowed_domains: ['shop.example.com'],
      default_role: 'developer',
    },
    as: 'live',
    unsent: { because: asksTheProvider, answer: identityProvider },
  }),
  step('identityProvider.get', { as: 'live', unsent: { because: asksTheProvider, answer: identityProvider } }),
  step('identityProvider.remove', {
    as: 'live',
    unsent: { because: asksTheProvider, answer: { object: 'identity_provider', deleted: true } },
  }),
  step('consoleSignIn.begin', {
    params: { org_id: exampleId('org') },
    query: { return_to: '/console/deployments' },
    as: 'nobody',
    unsent: { because: toBrowser, answer: '' },
  }),
  step('consoleSignIn.callback', {
    query: { state: 'st_…', code: 'co_…' },
    as: 'nobody',
    unsent: { because: toBrowser, answer: '' },
  }),
  step('consoleSignIn.link', {
    as: 'console',
    unsent: {
      because: asksTheProvider,
      answer: { object: 'sign_in_link', url: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=1234…' },
    },
  }),
  step('consoleSignIn.unlink', {
    as: 'console',
    unsent: { because: asksTheProvider, answer: { object: 'sign_in_link', deleted: true } },
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
  step('mcpGrants.show', {
    body: { query: clientsQuery },
    as: 'console',
    unsent: {
      because: needsBrowser,
      answer: {
        object: 'mcp_authorization',
        client: { name: 'Claude', address: 'claude.ai', is_verified: true },
        goes_to: { kind: 'site', address: 'claude.ai' },
        scopes: ['runtime', 'setup'],
        refusal: null,
      },
    },
  }),
  step('mcpGrants.decide', {
    body: { query: clientsQuery, approve: true },
    as: 'console',
    unsent: {
      because: needsBrowser,
      answer: {
        object: 'mcp_authorization',
        return_url: `https://claude.ai/api/mcp/auth_callback?code=vmc_…&state=xyz&iss=${encodeURIComponent(exampleUrl)}`,
      },
    },
  }),
  step('consoleAccount.signIns', { as: 'console' }),
  step('consoleAccount.endSignIn', { params: { console_session_id: exampleId('cses', 2) }, as: 'console' }),
  step('consoleAccess.login', {
    body: { email: 'ada@shop.example.com', password: 'an even longer battery' },
    as: 'nobody',
  }),
  step('consoleAccount.endOtherSignIns', { as: 'console' }),
  step('passkeys.beginRegistration', {
    body: { password: 'an even longer battery' },
    as: 'console',
    unsent: { because: needsDevice, answer: { object: 'passkey_options', options } },
  }),
  step('passkeys.register', {
    body: { name: 'Laptop', credential: ofDevice },
    as: 'console',
    unsent: { because: needsDevice, answer: passkey },
  }),
  step('passkeys.list', { as: 'console' }),
  step('passkeys.update', {
    params: { passkey_id: passkey.id },
    body: { name: 'Old laptop' },
    as: 'console',
    unsent: { because: needsDevice, answer: { ...passkey, name: 'Old laptop' } },
  }),
  step('passkeys.remove', {
    params: { passkey_id: passkey.id },
    as: 'console',
    unsent: { because: needsDevice, answer: { object: 'passkey', id: passkey.id, deleted: true } },
  }),
  step('passkeys.beginSignIn', {
    as: 'nobody',
    unsent: { because: needsDevice, answer: { object: 'passkey_options', options } },
  }),
  step('passkeys.signIn', {
    body: { credential: ofDevice },
    as: 'nobody',
    unsent: { because: needsDevice, answer: signedIn },
  }),
  step('consoleAccess.logout', { as: 'console' }),
  step('members.remove', { params: member, as: 'live' }),
];

/** Usage and audit log. */
export const reports: readonly ExampleCall[] = [
  step('usage.report', { query: { group_by: 'user' } }),
  step('overview.get', { query: { period: '7d' } }),
  step('auditLog.list', { query: { limit: 1 } }),
];
