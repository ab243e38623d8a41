import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const patchOrg = (body: object, key?: string) => server.call('PATCH', '/v1/org', { body, ...(key && { key }) });
const patchLimits = (body: object) => server.call('PATCH', '/v1/limits', { body });

describe('me', () => {
  it('shows org, mode and key [ACC-001, ACC-002, TEN-027]', async () => {
    for (const [key, mode] of [
      [server.testKey, 'test'],
      [server.liveKey, 'live'],
    ] as const) {
      const { body } = await server.call('GET', '/v1/me', { key });
      expect(body).toEqual({
        object: 'me',
        org: { id: server.orgId, name: 'My company', status: 'active' },
        mode,
        key: { id: expect.stringMatching(/^key_/), name: `First ${mode} key`, last4: key.slice(-4) },
        member: null,
      });
    }
  });

  it('shows a console member by role, and no key [ACC-002, ACC-003]', async () => {
    const login = await server.call('POST', '/v1/console/login', { key: null, body: server.owner });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
    const { body } = await server.call('GET', '/v1/me', { key: null, headers: { cookie } });
    expect([body.key, body.member, body.mode]).toEqual([null, { role: 'owner' }, 'test']);
  });
});

describe('credentials', () => {
  it.each([
    [null, 'key_missing'],
    ['nonsense', 'key_invalid'],
    [`vk_test_${'A'.repeat(43)}`, 'key_invalid'],
    [`vst_${'A'.repeat(43)}`, 'key_invalid'],
  ])('%s is 401 %s [AUTH-022]', async (key, code) => {
    const answer = await server.call('GET', '/v1/me', { key });
    expect([answer.status, codeOf(answer)]).toEqual([401, code]);
  });

  it.each([
    [{ 'service-mode': 'moon' }, 400, 'invalid_mode'],
    [{ 'service-mode': 'live' }, 400, 'invalid_mode'],
    [{ 'service-mode': 'test' }, 200, undefined],
    [{ 'service-org': 'nope' }, 400, 'invalid_org_header'],
    [{ 'service-org': 'org_000000000000000000000000' }, 403, 'org_mismatch'],
  ])('headers %j answer %i %s [TEN-020, TEN-021, TEN-025, TEN-026]', async (headers, status, code) => {
    const answer = await server.call('GET', '/v1/me', { headers });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  it('of an org that is switched off are refused [AUTH-010]', async () => {
    const key = await makeOtherOrg(server);
    expect((await server.call('GET', '/v1/me', { key })).status).toBe(200);
    await query(server.connectionString, `UPDATE orgs SET status = 'suspended' WHERE name = 'Other'`);
    await new Promise((resolve) => setTimeout(resolve, 1001));
    const answer = await server.call('GET', '/v1/me', { key });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'org_disabled']);
  });
});

describe('the org', () => {
  it('carries every field [ACC-006, ACC-007, ACC-008, ACC-009, ACC-010, ACC-011, ACC-012, ACC-013, ACC-014, LIM-007, LIM-008, MON-009]', async () => {
    const { status, body } = await server.call('GET', '/v1/org');
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'org',
      id: server.orgId,
      name: 'My company',
      status: 'active',
      mode: 'test',
      allowed_return_urls: [],
      allowed_embed_origins: [],
      default_deployment: null,
      require_user: false,
      memory_panel: false,
      memory_mode: 'vestra',
      memory_endpoint: null,
      otlp_endpoint: null,
      otlp_headers_secret: null,
      otlp_content: false,
      model_fallbacks: {},
      openings: {},
      conversation_retention_days: null,
      improvement_conversations: 'all',
      balance_usd: 100,
      caps: {
        org_daily_usd: 100,
        user_daily_usd: 10,
        max_org_daily_usd: 1000,
        org_monthly_usd: null,
        user_monthly_usd: null,
      },
      usage_alerts: { thresholds: [50, 80, 95] },
      created_at: expect.any(String),
    });
    const live = await server.call('GET', '/v1/org', { key: server.liveKey });
    expect([live.body.mode, live.body.balance_usd]).toEqual(['live', 0]);
  });

  it.each([
    [{ name: '' }, 'invalid_request', 'name'],
    [{ name: 'x'.repeat(201) }, 'invalid_request', 'name'],
    [{ allowed_return_urls: Array(21).fill('https://a.example/back') }, 'invalid_request', 'allowed_return_urls'],
    [{ allowed_return_urls: ['javascript:alert(1)'] }, 'invalid_request', 'allowed_return_urls.0'],
    [
      { allowed_embed_origins: Array.from({ length: 21 }, (_, at) => `https://a${at}.example`) },
      'invalid_request',
      'allowed_embed_origins',
    ],
    [{ allowed_embed_origins: ['https://a.example', 'http://b.example'] }, 'invalid_origin', 'allowed_embed_origins.1'],
    [{ allowed_embed_origins: ['https://a.example/path'] }, 'invalid_origin', 'allowed_embed_origins.0'],
    [{ allowed_embed_origins: ['https://*.example'] }, 'invalid_origin', 'allowed_embed_origins.0'],
    [{ allowed_embed_origins: ['nonsense'] }, 'invalid_origin', 'allowed_embed_origins.0'],
    [{ default_deployment: 'nothing-here' }, 'invalid_deployment', 'default_deployment'],
    [{ memory_mode: 'forever' }, 'invalid_request', 'memory_mode'],
    [{ memory_mode: 'customer' }, 'memory_endpoint_required', 'memory_mode'],
    [{ memory_endpoint: 'http://public.example/memory' }, 'invalid_request', 'memory_endpoint'],
    [{ memory_endpoint: 'https://127.0.0.1/memory' }, 'invalid_request', 'memory_endpoint'],
    [{ otlp_endpoint: 'ftp://a.example' }, 'invalid_request', 'otlp_endpoint'],
    [{ otlp_endpoint: 'https://localhost/v1/traces' }, 'invalid_request', 'otlp_endpoint'],
    [{ otlp_headers_secret: 'lower' }, 'invalid_secret_name', 'otlp_headers_secret'],
  ])(
    'refuses %j [ACC-016, ACC-017, ACC-018, ACC-019, ACC-021, ACC-022, ACC-023, ACC-027, START-013]',
    async (body, code, param) => {
      const before = (await server.call('GET', '/v1/org')).text;
      const answer = await patchOrg(body);
      expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
      expect((await server.call('GET', '/v1/org')).text).toBe(before);
    },
  );

  it('changes the fields that were sent and leaves the rest [ACC-024, ACC-025, ACC-026]', async () => {
    const first = await patchOrg({
      name: 'Shop & Söhne',
      allowed_return_urls: ['https://shop.example/back'],
      allowed_embed_origins: ['https://shop.example', 'https://www.shop.example:8443'],
      require_user: true,
      memory_panel: true,
      memory_endpoint: 'https://memory.example/v1',
      memory_mode: 'customer',
      otlp_endpoint: 'https://traces.example/v1/traces',
      otlp_headers_secret: 'OTLP_HEADERS',
    });
    expect(first.status).toBe(200);
    const second = await patchOrg({
      allowed_embed_origins: ['https://other.example'],
      otlp_endpoint: null,
      otlp_headers_secret: null,
    });
    expect(second.body).toEqual({
      ...first.body,
      allowed_embed_origins: ['https://other.example'],
      otlp_endpoint: null,
      otlp_headers_secret: null,
    });
    expect(codeOf(await patchOrg({ memory_endpoint: null }))).toBe('memory_endpoint_required');
    expect((await patchOrg({ memory_mode: 'none', memory_endpoint: null })).status).toBe(200);
  });

  it('is one record for both modes [TEN-006]', async () => {
    await patchOrg({ name: 'Renamed' }, server.liveKey);
    expect((await server.call('GET', '/v1/org')).body.name).toBe('Renamed');
  });
});

describe('limits', () => {
  it('shows caps, thresholds and rates [LIM-001, LIM-004]', async () => {
    const { body } = await server.call('GET', '/v1/limits');
    expect(Object.keys(body).sort()).toEqual(['caps', 'object', 'rate_limits', 'usage_alerts']);
    expect(body.rate_limits).toEqual({ requests_per_minute: 1_000_000, burst: 1_000_000 });
  });

  it('sets any part and leaves the rest [LIM-002, LIM-005, LIM-006]', async () => {
    const { body } = await patchLimits({ caps: { org_daily_usd: 50 }, usage_alerts: { thresholds: [90, 10, 90] } });
    expect(body.caps).toEqual({
      org_daily_usd: 50,
      user_daily_usd: 10,
      max_org_daily_usd: 1000,
      org_monthly_usd: null,
      user_monthly_usd: null,
    });
    expect(body.usage_alerts.thresholds).toEqual([10, 90]);
    expect(
      (await patchLimits({ caps: { org_monthly_usd: 500, user_monthly_usd: 500 } })).body.caps.user_monthly_usd,
    ).toBe(500);
    expect((await patchLimits({ caps: { user_monthly_usd: null } })).body.caps.user_monthly_usd).toBeNull();
  });

  it.each([
    [{ caps: { org_daily_usd: 1001 } }, 'cap_above_maximum', 'caps.org_daily_usd'],
    [{ caps: { user_daily_usd: 51 } }, 'cap_above_maximum', 'caps.user_daily_usd'],
    [{ caps: { org_daily_usd: 9 } }, 'cap_above_maximum', 'caps.user_daily_usd'],
    [{ caps: { user_monthly_usd: 501 } }, 'cap_above_maximum', 'caps.user_monthly_usd'],
    [{ caps: { org_daily_usd: -1 } }, 'invalid_request', 'caps.org_daily_usd'],
    [{ caps: { org_monthly_usd: 1_000_001 } }, 'invalid_request', 'caps.org_monthly_usd'],
    [{ caps: { max_org_daily_usd: 5000 } }, 'invalid_request', 'caps.max_org_daily_usd'],
    [{ usage_alerts: { thresholds: [1, 2, 3, 4, 5, 6] } }, 'invalid_request', 'usage_alerts.thresholds'],
    [{ usage_alerts: { thresholds: [101] } }, 'invalid_request', 'usage_alerts.thresholds.0'],
  ])('refuses %j [LIM-003, LIM-010, LIM-011, LIM-012, LIM-013]', async (body, code, param) => {
    const answer = await patchLimits(body);
    expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
  });

  it('accepts a cap of 0 and of the whole ceiling', async () => {
    expect((await patchLimits({ caps: { org_daily_usd: 1000, user_daily_usd: 0 } })).body.caps).toMatchObject({
      org_daily_usd: 1000,
      user_daily_usd: 0,
    });
  });
});

describe('the audit log', () => {
  it('lists who changed what, newest first [AUD-001, AUD-004, AUD-005]', async () => {
    const { headers } = await patchOrg({ name: 'Audited' });
    const { body } = await server.call('GET', '/v1/audit-log?action=org.updated');
    expect(body.data[0]).toEqual({
      object: 'audit_entry',
      id: expect.stringMatching(/^aud_/),
      action: 'org.updated',
      actor: { type: 'key', id: expect.stringMatching(/^key_/), name: 'First test key' },
      target: { type: 'org', id: server.orgId },
      ip: '127.0.0.1',
      request_id: headers.get('request-id'),
      details: { changed: ['name'] },
      created_at: expect.any(String),
    });
    const times = body.data.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('filters by action, actor and time [AUD-006]', async () => {
    const count = async (search: string) =>
      (await server.call('GET', `/v1/audit-log?limit=100&${search}`)).body.data.length;
    expect(await count('action=org.updated')).toBeGreaterThan(0);
    expect(await count('action=nothing.happened')).toBe(0);
    expect(await count('actor_id=nobody')).toBe(0);
    expect(await count('from=2000-01-01&to=2000-01-02')).toBe(0);
    const today = new Date().toISOString().slice(0, 10);
    expect(await count(`from=${today}&to=2999-01-01T00:00:00Z`)).toBeGreaterThan(0);
    for (const search of ['from=2026-02-30', 'from=yesterday', 'from=2026-02-01&to=2026-01-01']) {
      expect(codeOf(await server.call('GET', `/v1/audit-log?${search}`))).toBe('invalid_window');
    }
  });
});

describe('models and health', () => {
  it('lists the available models with prices and one default [ACC-005, ACC-029, ACC-030, ACC-031]', async () => {
    const { body } = await server.call('GET', '/v1/models');
    expect(body.data.filter((model: { default: boolean }) => model.default)).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      object: 'model',
      id: 'offline',
      provider: 'offline',
      name: expect.any(String),
      default: true,
      context_tokens: expect.any(Number),
      price: {
        input_per_mtok: 0.1,
        output_per_mtok: 0.4,
        cache_read_per_mtok: expect.any(Number),
        cache_write_per_mtok: 0.1,
      },
      available: true,
    });
  });

  it('reports if the stand-in cannot run [MOD-016]', async () => {
    const { body } = await server.call('GET', '/v1/models', { key: server.liveKey });
    expect(body.data[0]).toMatchObject({ id: 'offline', available: false });
  });

  it('adds the models of each configured provider [START-005, START-007, START-008, START-009, MOD-001]', async () => {
    const beside = await startTestServer({
      beside: server,
      env: {
        OPENAI_API_KEY: 'sk-x',
        OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1',
        OPENAI_COMPATIBLE_MODELS: 'llama, qwen',
        OPENAI_COMPATIBLE_PRICE: '0.5,2',
      },
    });
    const { body, text } = await beside.call('GET', '/v1/models');
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toContain('gpt-6.1-terra');
    expect(ids).toContain('compatible/llama');
    expect(ids).not.toContain('claude-sonnet-5-5');
    expect(body.data.find((model: { default: boolean }) => model.default).id).toBe('gpt-6.1-sol');
    expect(body.data.find(({ id }: { id: string }) => id === 'compatible/qwen').price).toMatchObject({
      input_per_mtok: 0.5,
      output_per_mtok: 2,
    });
    expect(text).not.toContain('sk-x');
    await beside.stop();
    const named = await startTestServer({
      beside: server,
      env: { OPENAI_API_KEY: 'sk-x', VESTRA_DEFAULT_MODEL: 'gpt-6-luna' },
    });
    const models = (await named.call('GET', '/v1/models')).body.data;
    expect(models.find((model: { default: boolean }) => model.default).id).toBe('gpt-6-luna');
    await named.stop();
  });

  it('is healthy [ACC-004]', async () => {
    const { status, body } = await server.call('GET', '/v1/health', { key: null });
    expect([status, body.status, body.checks.database.status]).toEqual([200, 'ok', 'ok']);
    expect(body.version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
