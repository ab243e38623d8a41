import { describe, expect, it, vi } from 'vitest';
import { unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import {
  accept,
  attributesOf,
  runTrace,
  startCollector,
  startExporter,
  tenant,
  toolStep,
} from './collector.fixture.ts';

const record = (exporter: ReturnType<typeof startExporter>, count: number, of = tenant()) => {
  for (let each = 0; each < count; each++) exporter.record(of, runTrace());
};

describe('a reachable collector', () => {
  it('gets a run as JSON, with the configured headers [OTLP-001, OTLP-002]', async () => {
    const collector = await startCollector();
    const headers = { 'X-Api-Key': 'k', 'Content-Type': 'text/plain' };
    const exporter = startExporter({ endpoint: collector.url, headers });
    exporter.record(tenant(), runTrace({ spans: [toolStep] }));
    await exporter.flush();
    expect(collector.received).toHaveLength(1);
    expect(collector.received[0]?.headers).toMatchObject({ 'x-api-key': 'k', 'content-type': 'application/json' });
    expect([collector.traces().length, exporter.dropped(), exporter.lines]).toEqual([1, 0, []]);
  });

  it.each([
    ['', '/v1/traces'],
    ['/', '/v1/traces'],
    ['/v1/traces', '/v1/traces'],
    ['/v1/traces/', '/v1/traces/'],
    ['/otlp', '/otlp/v1/traces'],
    ['/otlp/?project=a', '/otlp/v1/traces?project=a'],
    ['/v1/traces?project=a', '/v1/traces?project=a'],
  ])('has the endpoint %j and gets requests at %s', async (given, asked) => {
    const collector = await startCollector();
    const exporter = startExporter({ endpoint: collector.url + given, headers: {} });
    record(exporter, 1);
    await exporter.flush();
    expect(collector.received.map(({ path }) => path)).toEqual([asked]);
  });

  it('gets a batch when it is full or has waited long enough', async () => {
    const collector = await startCollector();
    const target = { endpoint: collector.url, headers: {} };
    const full = startExporter(target, { settings: { waitMs: 3_600_000, batchTraces: 3 } });
    record(full, 2);
    record(full, 1);
    await collector.until(1);
    expect(collector.traces()).toHaveLength(3);
    const waited = startExporter(target, { settings: { waitMs: 5 } });
    record(waited, 1);
    await collector.until(2);
    expect(collector.traces()).toHaveLength(4);
  });

  it('gets separate requests for each org and mode', async () => {
    const collector = await startCollector();
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    for (const of of [tenant('org_a'), tenant('org_a', 'live'), tenant('org_b'), tenant('org_a')])
      record(exporter, 1, of);
    await exporter.flush();
    const heard = collector.received.map(({ body }) => {
      const [first] = body.resourceSpans;
      const { 'vestra.org.id': org, 'vestra.mode': mode } = attributesOf(first?.resource ?? { attributes: [] });
      return `${org} ${mode} ${first?.scopeSpans[0]?.spans.length}`;
    });
    expect(heard.sort()).toEqual(['org_a live 1', 'org_a test 2', 'org_b test 1']);
  });

  it('gets every trace once, in requests of limited size, while more are recorded', async () => {
    const collector = await startCollector();
    const exporter = startExporter(
      { endpoint: collector.url, headers: {} },
      { settings: { waitMs: 1, batchTraces: 10, batchSpans: 30 } },
    );
    const traces = Array.from({ length: 200 }, (_, at) =>
      runTrace({ id: `turn_many_${at}`, spans: Array(at % 50).fill(toolStep) }),
    );
    for (const [at, trace] of traces.entries()) {
      exporter.record(tenant(), trace);
      if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await exporter.flush();
    const told = collector.traces().map((span) => attributesOf(span)['vestra.turn.id']);
    expect(told.sort()).toEqual(traces.map(({ id }) => id).sort());
    for (const { body } of collector.received) {
      const spans = body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
      const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(roots.length).toBeLessThanOrEqual(10);
      // A trace above the limit is sent alone.
      if (roots.length > 1) expect(spans.length).toBeLessThanOrEqual(30);
    }
    expect(exporter.dropped()).toBe(0);
  });

  it('gets nothing if the org wants no traces, and nothing counts as dropped [OTLP-001]', async () => {
    const exporter = startExporter(null);
    record(exporter, 250);
    await exporter.flush();
    expect([exporter.dropped(), exporter.lines]).toEqual([0, []]);
  });

  it('may refuse some spans of a batch, which are counted as dropped', async () => {
    const collector = await startCollector((response) => response.end('{"partialSuccess":{"rejectedSpans":"2"}}'));
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    record(exporter, 5);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([1, 2]);
    expect(exporter.lines[0]?.orgs[0]?.reason).toBe('The collector refused 2 spans.');
  });

  it.each(['', 'thanks', 'null', '{"partialSuccess":{"rejectedSpans":0,"errorMessage":"slow down"}}'])(
    'accepts a batch with the response %j',
    async (answer) => {
      const collector = await startCollector((response) => response.end(answer));
      const exporter = startExporter({ endpoint: collector.url, headers: {} });
      record(exporter, 5);
      await exporter.flush();
      expect([collector.received.length, exporter.dropped()]).toEqual([1, 0]);
    },
  );
});

describe('a failing collector', () => {
  it('does not get a batch twice if it had accepted it', async () => {
    const collector = await startCollector((response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    record(exporter, 2);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([1, 0]);
  });

  it.each([429, 502, 503, 504])('gets a batch again after status %i', async (status) => {
    const collector = await startCollector((response, nth) =>
      nth < 3 ? response.writeHead(status).end() : accept(response),
    );
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    record(exporter, 2);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([3, 0]);
  });

  it('loses a batch after several failures, and gets the next one', async () => {
    const collector = await startCollector((response, nth) =>
      nth <= 3 ? response.writeHead(503).end() : accept(response),
    );
    const exporter = startExporter({ endpoint: collector.url, headers: {} }, { settings: { batchTraces: 2 } });
    record(exporter, 4);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([4, 2]);
    expect(exporter.lines).toEqual([
      { dropped: 2, orgs: [{ org_id: 'org_a', mode: 'test', dropped: 2, reason: '127.0.0.1 answered 503.' }] },
    ]);
  });

  it.each([400, 401, 413, 500, 501])('gets a batch only once after status %i', async (status) => {
    const collector = await startCollector((response) => response.writeHead(status).end());
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    record(exporter, 2);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([1, 2]);
  });

  it('gets no retry if it asks for a long wait', async () => {
    const collector = await startCollector((response) => response.writeHead(429, { 'retry-after': '3600' }).end());
    const exporter = startExporter({ endpoint: collector.url, headers: {} });
    record(exporter, 1);
    await exporter.flush();
    expect([collector.received.length, exporter.dropped()]).toEqual([1, 1]);
  });

  it('gets no request at the address of a redirect', async () => {
    const elsewhere = await startCollector();
    const collector = await startCollector((response) =>
      response.writeHead(307, { location: `${elsewhere.url}/v1/traces` }).end(),
    );
    const exporter = startExporter({ endpoint: collector.url, headers: { 'x-api-key': 'k' } });
    record(exporter, 1);
    await exporter.flush();
    expect([collector.received.length, elsewhere.received.length, exporter.dropped()]).toEqual([1, 0, 1]);
    expect(exporter.lines[0]?.orgs[0]?.reason).toBe('127.0.0.1 answered 307.');
  });

  it('loses the batch if it is unreachable', async () => {
    const exporter = startExporter({ endpoint: `http://127.0.0.1:${await unusedPort()}`, headers: {} });
    record(exporter, 3);
    await exporter.flush();
    expect(exporter.dropped()).toBe(3);
    expect(exporter.lines[0]?.orgs[0]?.reason).toBe('127.0.0.1 could not be reached: ECONNREFUSED.');
  });

  it('blocks no other org if it hangs, and loses traces that do not fit into the buffer', async () => {
    const hanging = await startCollector(() => {});
    const collector = await startCollector();
    const exporter = startExporter(null, {
      targetOf: async ({ orgId }) => ({ endpoint: orgId === 'org_hangs' ? hanging.url : collector.url, headers: {} }),
      settings: { waitMs: 1, timeoutMs: 3_600_000, graceMs: 1, maxSpansOfTenant: 50, batchTraces: 10 },
    });
    record(exporter, 10, tenant('org_hangs'));
    await hanging.until(1);
    record(exporter, 60, tenant('org_hangs'));
    expect(exporter.dropped()).toBe(10);
    record(exporter, 20, tenant('org_b'));
    await vi.waitFor(() => expect(collector.traces()).toHaveLength(20), 60_000);
    expect(hanging.received).toHaveLength(1);
  });

  it('times out if it hangs', async () => {
    const hanging = await startCollector(() => {});
    const exporter = startExporter({ endpoint: hanging.url, headers: {} }, { settings: { timeoutMs: 1_000 } });
    record(exporter, 2);
    await exporter.flush();
    expect([hanging.received.length, exporter.dropped()]).toEqual([1, 2]);
    expect(exporter.lines[0]?.orgs[0]?.reason).toBe('127.0.0.1 did not answer in time.');
  });

  it('uses a limited share of the memory if it hangs', async () => {
    const hanging = await startCollector(() => {});
    const exporter = startExporter(
      { endpoint: hanging.url, headers: {} },
      { settings: { waitMs: 3_600_000, timeoutMs: 3_600_000, graceMs: 1, maxSpansOfAll: 30 } },
    );
    for (let org = 0; org < 10; org++) record(exporter, 5, tenant(`org_${org}`));
    expect(exporter.dropped()).toBe(20);
    await exporter.stop();
    expect(exporter.dropped()).toBe(50);
  });

  it('frees its memory when it answers again', async () => {
    const collector = await startCollector();
    const exporter = startExporter({ endpoint: collector.url, headers: {} }, { settings: { maxSpansOfAll: 30 } });
    for (let round = 0; round < 3; round++) {
      record(exporter, 30);
      await exporter.flush();
    }
    expect([collector.traces().length, exporter.dropped()]).toEqual([90, 0]);
  });
});

describe('forbidden destinations', () => {
  it('are private addresses, unless the operator allows them [OTLP-007]', async () => {
    const collector = await startCollector();
    const refusing = startExporter({ endpoint: collector.url, headers: {} }, { allowPrivate: false });
    record(refusing, 1);
    await refusing.flush();
    expect([collector.received.length, refusing.dropped()]).toEqual([0, 1]);
    const allowing = startExporter({ endpoint: collector.url, headers: {} }, { allowPrivate: true });
    record(allowing, 1);
    await allowing.flush();
    expect([collector.received.length, allowing.dropped()]).toEqual([1, 0]);
  });

  it('are logged with their reason', async () => {
    const exporter = startExporter({ unusable: 'The secret HEADERS is not stored in test mode.' });
    record(exporter, 3);
    await exporter.flush();
    expect(exporter.dropped()).toBe(3);
    expect(exporter.lines[0]?.orgs[0]?.reason).toBe('The secret HEADERS is not stored in test mode.');
  });

  it('cost one batch if they cannot be read, and no value is logged', async () => {
    const collector = await startCollector();
    let isAway = true;
    const exporter = startExporter(null, {
      targetOf: async () => {
        if (isAway) throw new Error('select secret_value from t');
        return { endpoint: collector.url, headers: {} };
      },
    });
    record(exporter, 2);
    await exporter.flush();
    expect(JSON.stringify(exporter.lines)).not.toContain('secret_value');
    isAway = false;
    record(exporter, 1);
    await exporter.flush();
    expect([collector.traces().length, exporter.dropped()]).toEqual([1, 2]);
  });
});

describe('the drop log', () => {
  it('has at most one line a minute, and loses no count', async () => {
    let now = 0;
    const exporter = startExporter({ unusable: 'No.' }, { now: () => now });
    for (const [at, count] of [
      [0, 1],
      [1_000, 2],
      [59_999, 3],
      [60_000, 4],
      [61_000, 5],
    ] as const) {
      now = at;
      record(exporter, count);
      record(exporter, 1, tenant('org_b', 'live'));
      await exporter.flush();
    }
    await exporter.stop();
    expect(exporter.lines.map(({ dropped }) => dropped)).toEqual([1, 12, 7]);
    expect(exporter.lines[1]?.orgs).toEqual([
      { org_id: 'org_b', mode: 'live', dropped: 3, reason: 'No.' },
      { org_id: 'org_a', mode: 'test', dropped: 9, reason: 'No.' },
    ]);
    expect(exporter.dropped()).toBe(20);
  });
});

describe('stopping the exporter', () => {
  it('sends the rest, and drops later traces', async () => {
    const collector = await startCollector();
    const exporter = startExporter({ endpoint: collector.url, headers: {} }, { settings: { waitMs: 3_600_000 } });
    record(exporter, 250);
    record(exporter, 1, tenant('org_b'));
    await exporter.stop();
    expect([collector.traces().length, exporter.dropped()]).toEqual([251, 0]);
    record(exporter, 1);
    expect(exporter.dropped()).toBe(1);
  });

  it('does not wait for a collector that hangs', async () => {
    const hanging = await startCollector(() => {});
    const exporter = startExporter(null, {
      targetOf: async ({ orgId }) =>
        orgId === 'org_a' ? { endpoint: hanging.url, headers: {} } : new Promise<never>(() => {}),
      settings: { timeoutMs: 3_600_000, graceMs: 20 },
    });
    record(exporter, 250);
    record(exporter, 10, tenant('org_b'));
    await exporter.stop();
    expect(exporter.dropped()).toBe(260);
    expect(exporter.lines.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(260);
  });
});
