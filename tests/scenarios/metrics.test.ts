import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { ADVISORY_LOCK } from '@vestra/server/platform/db/migrate';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { scrape } from '../support/scrape.ts';
import { isOneProcess, startTestServer } from '../support/server.ts';

const token = 'operator-token-of-this-test';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_METRICS_TOKEN: token } });
  await server.apply({ name: 'desk', memory: 'none' });
});
afterAll(() => server.stop());

describe('the metrics of a process', () => {
  it.runIf(isOneProcess)(
    'count a turn, its model calls and its streamed events, without personal names [OPS-208, OPS-209, OPS-745]',
    async () => {
      const before = await scrape(server.url);
      server.script(() => ({ text: 'Hello to you.' }));
      const talk = await server.stream('POST', '/v1/conversations', {
        body: { message: 'Hi', stream: true, user_id: 'metric-user' },
      });
      await talk.events;
      server.script(() => ({ fail: 400, failMessage: 'no such thing' }));
      const { body: failing } = await server.call('POST', '/v1/conversations', { body: {} });
      const sent = { body: { message: 'Hi' }, headers: { prefer: 'wait=60' } };
      await server.call('POST', `/v1/conversations/${failing.id}/messages`, sent);
      await server.call('GET', '/v1/users/nobody-here');
      await server.call('GET', '/v1/no-such-route');
      const form = new FormData();
      form.set('file', new File(['counted'], 'counted.txt', { type: 'text/plain' }));
      expect((await server.call('POST', '/v1/files', { raw: form })).status).toBe(201);
      const after = await scrape(server.url);

      const grown = (name: string) => (after.samples.get(name) ?? 0) - (before.samples.get(name) ?? 0);
      expect(grown('vestra_turns_started_total')).toBe(2);
      expect(grown('vestra_turns_ended_total{outcome="settled",code="none"}')).toBe(1);
      expect(grown('vestra_turns_ended_total{outcome="failed",code="model_error"}')).toBe(1);
      expect(grown('vestra_turn_duration_seconds_count{outcome="settled"}')).toBe(1);
      expect(grown('vestra_turn_first_text_seconds_count')).toBe(1);
      expect(grown('vestra_model_calls_total{provider="compatible",outcome="ok"}')).toBe(1);
      expect(grown('vestra_model_calls_total{provider="compatible",outcome="refused"}')).toBe(1);
      expect(grown('vestra_model_first_token_seconds_count{provider="compatible"}')).toBe(1);
      expect(grown('vestra_event_lag_seconds_count')).toBeGreaterThan(0);
      expect(grown('vestra_http_requests_total{method="GET",route="/v1/users/{user_id}",status="404"}')).toBe(1);
      expect(grown('vestra_http_requests_total{method="other",route="none",status="404"}')).toBe(1);
      expect(grown('vestra_http_errors_total{code="user_not_found"}')).toBe(1);
      expect(grown('vestra_file_store_requests_total{operation="put",outcome="ok"}')).toBe(1);
      expect(grown('vestra_file_store_request_duration_seconds_count{operation="put"}')).toBe(1);
      expect(after.samples.get('vestra_ready')).toBe(1);
      expect(after.samples.get('vestra_database_embedded')).toBe(0);
      expect(after.text).not.toMatch(/metric-user|nobody-here|no-such-route|(org|conv|turn)_[0-9a-z]{24}/);
    },
  );

  it('are returned in the requested format [OPS-201]', async () => {
    const plain = await scrape(server.url, { accept: '*/*' });
    const open = await scrape(server.url, {
      accept: 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3',
    });
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect([plain.text.endsWith('# EOF\n'), open.text.endsWith('\n# EOF\n')]).toEqual([false, true]);
    expect(open.names.get('vestra_turns_started')).toBe('counter');
    expect(plain.names.get('vestra_turns_started_total')).toBe('counter');
  });

  it('are refused to proxied requests without the token, and to API keys [OPS-202]', async () => {
    const proxied = { 'x-forwarded-for': '203.0.113.9' };
    const refused = await server.call('GET', '/metrics', { key: null, headers: proxied });
    expect([refused.status, refused.body.error.code, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'key_missing',
      'Bearer realm="vestra"',
    ]);
    expect((await server.call('GET', '/metrics', { key: server.liveKey })).body.error.code).toBe('key_invalid');
    expect((await scrape(server.url, { ...proxied, authorization: `Bearer ${token}` })).status).toBe(200);
  });
});

describe('the documentation of the metrics', () => {
  const root = join(import.meta.dirname, '../..');
  const read = (file: string) => readFileSync(join(root, file), 'utf8');

  it('is a row for each of them, with its kind and its labels [OPS-207]', async () => {
    const { names, samples } = await scrape(server.url);
    const rows = [...read('docs/metrics.md').matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*)\|/gm)];
    expect(rows.map(([, name, kind]) => `${name} ${kind}`).sort()).toEqual(
      [...names].map(([name, kind]) => `${name} ${kind}`).sort(),
    );
    const wrong = [...samples.keys()].filter((sample) => {
      const name = sample.replace(/(_bucket|_sum|_count)?(\{.*)?$/, '');
      const [, , , labels = ''] =
        rows.find(([, each]) => each === name) ?? rows.find(([, each]) => sample.startsWith(`${each}{`)) ?? [];
      const shown = [...sample.matchAll(/[{,]([a-z]+)="/g)].map(([, label]) => label).filter((label) => label !== 'le');
      return shown.join() !== [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).join();
    });
    expect(wrong).toEqual([]);
  });

  it('and no rule or panel asks for one that is not there [OPS-207]', async () => {
    const { names } = await scrape(server.url);
    const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    const { panels } = JSON.parse(read('deploy/grafana/vestra.json')) as { panels: { targets?: { expr: string }[] }[] };
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const asked = [...rules.map(({ expr }) => expr), ...shown].flatMap((expr) => [
      ...(expr.match(/\b(vestra|process|nodejs)_\w+/g) ?? []),
    ]);
    const known = (name: string) => names.has(name) || names.get(name.replace(/_bucket$/, '')) === 'histogram';
    expect(asked.filter((name) => !known(name))).toEqual([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.filter(({ annotations, labels }) => !annotations.description || !labels.severity)).toEqual([]);
    // A metric that no dashboard or alert shows is not worth counting.
    const seen = new Set(asked.map((name) => (names.has(name) ? name : name.replace(/_bucket$/, ''))));
    const unseen = [...names.keys()].filter((name) => !seen.has(name)).sort();
    expect(unseen).toEqual(['process_start_time_seconds', 'vestra_database_embedded']);
  });
});

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { description: string } };

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, 'close');
  return port;
}

describe('the bare address', () => {
  it('leads on: a page for a browser, lines for a terminal, and every place it names is there [OPS-212, GUIDE-008]', async () => {
    const lines = await server.call('GET', '/', { key: null });
    expect([lines.status, lines.headers.get('content-type')]).toEqual([200, 'text/plain; charset=UTF-8']);
    const answer = await fetch(server.url, { headers: { accept: 'text/html,*/*' } });
    const page = await answer.text();
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const places = [...page.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
    expect(places).toEqual(expect.arrayContaining(['/docs', '/docs/guide', '/docs/guide/getting-started']));
    for (const path of places) {
      expect([path, (await fetch(`${server.url}${path}`)).status]).toEqual([path, 200]);
      if (path.startsWith('/docs')) expect(lines.text).toContain(path);
    }
    expect((await server.call('GET', '/favicon.ico', { key: null })).status).toBe(204);
  });

  it.each(['/', '/docs', '/docs/guide/functions', '/console'])(
    'has at %s the mark, the typeface and a picture for other sites, each from the server [GUIDE-014]',
    async (path) => {
      const answer = await fetch(`${server.url}${path}`, { headers: { accept: 'text/html' } });
      expect(answer.headers.get('content-security-policy')).toContain("font-src 'self'");
      const page = await answer.text();
      const targets = [...page.matchAll(/<link rel="(?:icon|preload|stylesheet)"[^>]*?href="([^"]+)"/g)];
      const [picture] = [...page.matchAll(/property="og:image" content="([^"]+)"/g)].map(([, found = '']) => found);
      const types: Record<string, string | null> = {};
      for (const target of [...targets.map(([, found = '']) => found), picture ?? '']) {
        const { status, url, headers } = await fetch(new URL(target, `${server.url}${path}`));
        expect([target, status]).toEqual([target, 200]);
        types[url.replace(/^.*\.|-\w+(?=\.)/g, '')] = headers.get('content-type');
        if (!url.endsWith('.css')) continue;
        const css = await (await fetch(url)).text();
        for (const [, font = ''] of css.matchAll(/url\(([^)]+\.woff2)\)/g))
          expect([font, (await fetch(new URL(font, url))).headers.get('content-type')]).toEqual([font, 'font/woff2']);
        types.fonts = /@font-face[^}]*Geist Variable/.test(css) ? 'Geist' : (types.fonts ?? null);
      }
      expect(types).toMatchObject({ svg: 'image/svg+xml', png: 'image/png', fonts: 'Geist' });
      // A site that shows a link resolves no relative address.
      expect(picture).toMatch(/^http/);
    },
  );

  it('of the reference and the guide may end in a slash [GUIDE-008]', async () => {
    for (const path of ['/docs', '/docs/guide', '/docs/guide/functions']) {
      const { status, headers } = await fetch(`${server.url}${path}/`, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([301, path]);
    }
  });
});

describe('a worker', () => {
  it('reports its health at its own port, and serves nothing else there [OPS-211]', async () => {
    const operatorPort = await freePort();
    const worker = await startTestServer({
      beside: server,
      env: { VESTRA_ROLE: 'worker', VESTRA_OPERATOR_PORT: String(operatorPort) },
    });
    const url = `http://127.0.0.1:${operatorPort}`;
    try {
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
      expect((await fetch(`${url}/v1/me`)).status).toBe(404);
      expect((await scrape(url)).text).toContain('role="worker"');
    } finally {
      await worker.stop();
    }
  });

  it('is live and not ready while another process migrates, however long that takes [OPS-733]', async () => {
    const operatorPort = await freePort();
    const url = `http://127.0.0.1:${operatorPort}`;
    const migrating = new pg.Client({ connectionString: server.connectionString });
    await migrating.connect();
    await migrating.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const starting = startTestServer({
      beside: server,
      env: { VESTRA_ROLE: 'worker', VESTRA_OPERATOR_PORT: String(operatorPort) },
    });
    const status = (path: string) =>
      fetch(`${url}${path}`).then(
        ({ status }) => status,
        () => null,
      );
    await expect.poll(() => status('/health/live')).toBe(200);
    expect(await status('/health/ready')).toBe(503);
    await migrating.end();
    const worker = await starting;
    expect(await status('/health/ready')).toBe(200);
    await worker.stop();
  });
});
