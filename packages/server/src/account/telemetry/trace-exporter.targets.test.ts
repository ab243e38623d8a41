import { newId } from '@vestra/contract/ids';
import { type Mode, modes } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { updateSettings } from '../orgs/store.ts';
import { secretRoutes } from '../secrets/secrets.ts';
import type { OrgSettings } from '../tables.ts';
import { runTrace, startCollector, startExporter } from './collector.fixture.ts';
import { createTraceTargets, traceHeaders } from './trace-exporter.ts';

let app: Awaited<ReturnType<typeof startTestApp>>;
beforeAll(async () => {
  app = await startTestApp(({ db, vault }) => ({ secrets: secretRoutes({ db, vault }) }));
});
afterAll(() => app.stop());

const secret = 'OTLP_HEADERS';

async function newOrg(settings: Partial<OrgSettings> = {}) {
  const org = await app.newOrg();
  await change(org.id, settings);
  const store = (value: string, mode: Mode = 'test') =>
    app.call('PUT', `/v1/secrets/${secret}`, { key: mode === 'test' ? org.testKey : org.liveKey, body: { value } });
  return { ...org, store };
}
const change = (orgId: string, settings: Partial<OrgSettings>) =>
  Promise.all(modes.map((mode) => updateSettings(app.db, { orgId, mode }, { require_user: false, ...settings })));

/** Without a cache: every call reads the database. */
function targets() {
  let now = 0;
  return createTraceTargets({ ...app, now: () => (now += 3_600_000) });
}

describe('the trace target of an org', () => {
  it('is empty by default [OTLP-001]', async () => {
    const org = await newOrg({ otlp_headers_secret: secret });
    expect(await targets()({ orgId: org.id, mode: 'test' })).toBeNull();
  });

  it('is its endpoint, with the headers of its secret in the mode [OTLP-002]', async () => {
    const endpoint = 'https://traces.example/otlp';
    const org = await newOrg({ otlp_endpoint: endpoint, otlp_headers_secret: secret });
    await org.store('{"Authorization":"Bearer of test","X-Team":""}');
    await org.store('{"Authorization":"Bearer of live"}', 'live');
    const targetOf = targets();
    expect(await targetOf({ orgId: org.id, mode: 'test' })).toEqual({
      endpoint,
      headers: { Authorization: 'Bearer of test', 'X-Team': '' },
      withContent: false,
    });
    expect(await targetOf({ orgId: org.id, mode: 'live' })).toEqual({
      endpoint,
      headers: { Authorization: 'Bearer of live' },
      withContent: false,
    });
    await change(org.id, { otlp_headers_secret: null });
    expect(await targetOf({ orgId: org.id, mode: 'test' })).toEqual({ endpoint, headers: {}, withContent: false });
  });

  it('is cached for a few seconds', async () => {
    let now = 0;
    const targetOf = createTraceTargets({ ...app, now: () => now });
    const org = await newOrg({ otlp_endpoint: 'https://one.example' });
    const endpoint = async () => {
      const target = await targetOf({ orgId: org.id, mode: 'test' });
      return target && 'endpoint' in target ? target.endpoint : null;
    };
    expect(await endpoint()).toBe('https://one.example');
    await change(org.id, { otlp_endpoint: 'https://two.example' });
    now = 4_999;
    expect(await endpoint()).toBe('https://one.example');
    now = 5_000;
    expect(await endpoint()).toBe('https://two.example');
    await change(org.id, { otlp_endpoint: null });
    now = 10_000;
    expect(await endpoint()).toBeNull();
  });

  it('throws for an org that does not exist', async () => {
    await expect(targets()({ orgId: newId('org'), mode: 'test' })).rejects.toThrow('has no settings');
  });
});

describe('a secret that cannot be sent as headers', () => {
  it('sends nothing, and the log names the secret but never its value [OTLP-002]', async () => {
    const collector = await startCollector();
    const org = await newOrg({ otlp_endpoint: collector.url, otlp_headers_secret: secret });
    const exporter = startExporter(null, { targetOf: targets() });
    const send = async () => {
      exporter.record({ orgId: org.id, mode: 'test' }, runTrace());
      await exporter.flush();
      return collector.received.length;
    };
    expect([await send(), exporter.dropped()]).toEqual([0, 1]);
    await org.store('Bearer not-a-json-object');
    expect([await send(), exporter.dropped()]).toEqual([0, 2]);
    await org.store('{"Authorization":"Bearer ok"}');
    expect([await send(), exporter.dropped()]).toEqual([1, 2]);
    expect(collector.received[0]?.headers.authorization).toBe('Bearer ok');
    await exporter.stop();
    expect(exporter.lines.flatMap(({ orgs }) => orgs.map(({ reason }) => reason))).toEqual([
      'The secret OTLP_HEADERS is not stored in test mode.',
      'The secret OTLP_HEADERS is no JSON object of header names and values that HTTP can carry.',
    ]);
    expect(JSON.stringify(exporter.lines)).not.toContain('Bearer');
  });

  it.each([
    'x',
    '',
    'null',
    '1',
    '"a"',
    '["a"]',
    '{"a":1}',
    '{"a":null}',
    '{"a":{"b":"c"}}',
    '{"":"a"}',
    '{"a b":"c"}',
    '{"a":"b\\nc"}',
    '{"a":"✓"}',
  ])('is %s', (value) => expect(traceHeaders(value)).toBeNull());

  it('may have no headers, or unusual but valid names', () => {
    expect(traceHeaders('{}')).toEqual({});
    expect(traceHeaders('{"x_y.z!":"a\\tb é"}')).toEqual({ 'x_y.z!': 'a\tb é' });
  });
});
