import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@vestra/contract/ids';
import type { Scope } from '@vestra/contract/route';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { updateSettings } from '../../account/orgs/store.ts';
import { type OperatorCommand, operatorCommands } from '../../operator/commands.ts';
import type { Operator } from '../../operator/operator.ts';
import { sharedSecret } from '../../platform/secrets/vault.ts';
import { memoryEndpointSecret } from './customer-memory.ts';
import { signingSecret, startMemory } from './memory.fixture.ts';

let server: Awaited<ReturnType<typeof startMemory>>;
const closing: (() => void)[] = [];
beforeAll(async () => {
  server = await startMemory();
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => server.stop());

type Call = { body: Record<string, unknown> & { action: string }; raw: string; headers: IncomingMessage['headers'] };
type Given = { status?: number; body: unknown } | 'silence';

/** An org with a memory endpoint that sends the given responses. */
async function customer(answer: (call: Call) => Given, scopes?: Scope[]) {
  const calls: Call[] = [];
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString();
    const call = { body: JSON.parse(raw), raw, headers: request.headers };
    calls.push(call);
    const given = answer(call);
    if (given === 'silence') return;
    const text = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
    response.writeHead(given.status ?? 200, { 'content-type': 'application/json' }).end(text);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  closing.push(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/memory?tenant=7`;
  const org = await server.newOrg({ memory_mode: 'customer', memory_endpoint: url }, scopes);
  return { ...org, calls };
}

const item = (text: string) => ({
  object: 'memory',
  id: newId('mem'),
  text,
  kind: 'other',
  source: 'user_direct',
  observed_at: '2026-01-02T03:04:05.000Z',
});

/** Stores facts as docs/memory.md describes. */
function keeper() {
  let kept: ReturnType<typeof item>[] = [];
  return ({ body }: Call): Given => {
    switch (body.action) {
      case 'list': {
        const from = body.after === null ? 0 : kept.findIndex(({ id }) => id === body.after) + 1;
        const data = kept.slice(from, from + (body.limit as number));
        return { body: { data, profile: { markdown: '- Kept elsewhere', updated_at: null } } };
      }
      case 'add':
        kept = [body.memory as ReturnType<typeof item>, ...kept];
        return { status: 201, body: body.memory };
      case 'search': {
        const found = kept.filter(({ text }) => text.includes(body.query as string)).map(({ text }) => text);
        return { body: { found: found.length > 0, text: found.join('\n') || null } };
      }
      case 'delete': {
        const before = kept.length;
        kept = kept.filter(({ id }) => id !== body.id);
        return { body: { deleted: kept.length < before } };
      }
      default: {
        const count = kept.length;
        kept = [];
        return { body: { memories_deleted: count } };
      }
    }
  };
}

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

describe('memory behind the org’s endpoint', () => {
  it('gets one action for each route [MEM-017]', async () => {
    const { key, calls } = await customer(keeper());
    const made = await server.call('POST', '/v1/memory', { key, body: { user_id: 'ana', text: 'Likes tea.' } });
    expect([made.status, made.body.text, made.body.source]).toEqual([201, 'Likes tea.', 'user_direct']);
    await server.call('POST', '/v1/memory', { key, body: { user_id: 'ana', text: 'Likes jazz.', kind: 'preference' } });
    const first = await server.call('GET', '/v1/memory?user_id=ana&limit=1', { key });
    expect(first.body).toMatchObject({ data: [{ text: 'Likes jazz.' }], profile: { markdown: '- Kept elsewhere' } });
    const next = await server.call('GET', `/v1/memory?user_id=ana&limit=1&cursor=${first.body.next_cursor}`, { key });
    expect(next.body).toMatchObject({ data: [{ text: 'Likes tea.' }], next_cursor: null });
    const found = await server.call('GET', '/v1/memory/search?user_id=ana&q=tea', { key });
    expect(found.body).toEqual({ query: 'tea', found: true, text: 'Likes tea.' });
    const path = `/v1/memory/${made.body.id}?user_id=ana`;
    expect((await server.call('DELETE', path, { key })).body).toMatchObject({ id: made.body.id, deleted: true });
    expect(codeOf(await server.call('DELETE', path, { key }))).toEqual([404, 'memory_not_found']);
    const cleared = await server.call('DELETE', '/v1/memory?user_id=ana', { key });
    expect(cleared.body).toEqual({ user_id: 'ana', deleted: true, memories_deleted: 1 });
    await server.call('GET', '/v1/memory', { key });
    expect(calls.map(({ body }) => [body.action, body.user_id, body.mode])).toEqual([
      ['add', 'ana', 'test'],
      ['add', 'ana', 'test'],
      ['list', 'ana', 'test'],
      ['list', 'ana', 'test'],
      ['search', 'ana', 'test'],
      ['delete', 'ana', 'test'],
      ['delete', 'ana', 'test'],
      ['delete_all', 'ana', 'test'],
      ['list', null, 'test'],
    ]);
    expect(calls[4]?.body).toMatchObject({ query: 'tea', limit: 5 });
  });

  it('gets requests with a signature that a webhook library accepts [MEM-018]', async () => {
    const { id: orgId, key, liveKey, calls } = await customer(keeper());
    await server.call('GET', '/v1/memory', { key });
    await server.call('GET', '/v1/memory', { key: liveKey });
    const first = { memory_secret_number: 0 };
    const secretOf = (mode: 'test' | 'live') => memoryEndpointSecret(signingSecret, { orgId, mode }, first);
    expect(secretOf('test')).toMatch(/^whsec_/);
    expect(secretOf('test')).not.toBe(secretOf('live'));
    for (const [at, mode] of (['test', 'live'] as const).entries()) {
      const { raw, headers } = calls[at] as Call;
      expect(new Webhook(secretOf(mode)).verify(raw, headers as Record<string, string>)).toMatchObject({ mode });
      expect(headers['service-signature']).toBe(headers['webhook-signature']);
      const other = new Webhook(secretOf(mode === 'test' ? 'live' : 'test'));
      expect(() => other.verify(raw, headers as Record<string, string>)).toThrow();
    }
  });

  it('has a secret that the operator can show', async () => {
    const { id: orgId } = await server.newOrg();
    const { db, vault } = server;
    const show = operatorCommands['memory-secret'] as OperatorCommand;
    const shown = await show.run({ db, vault } as Operator, { org: orgId, mode: 'live' });
    const agreed = await sharedSecret(db, vault, 'signing-secret');
    const secret = memoryEndpointSecret(agreed, { orgId, mode: 'live' }, { memory_secret_number: 0 });
    expect(shown).toEqual({ org_id: orgId, mode: 'live', secret });
    expect(show.show(shown)).toBe(secret);
    await expect(show.run({ db, vault } as Operator, { org: newId('org'), mode: 'live' })).rejects.toThrow('no org');
  });

  it('requires an endpoint [MEM-013]', async () => {
    const { key } = await server.newOrg({ memory_mode: 'customer' });
    for (const [method, path, body] of [
      ['GET', '/v1/memory', undefined],
      ['POST', '/v1/memory', { text: 'Likes tea.' }],
      ['GET', '/v1/memory/search?q=tea', undefined],
      ['DELETE', '/v1/memory', undefined],
      ['DELETE', `/v1/memory/${newId('mem')}`, undefined],
    ] as const) {
      const answer = await server.call(method, path, { key, ...(body && { body }) });
      expect(codeOf(answer)).toEqual([400, 'memory_endpoint_required']);
    }
  });

  it.each<[string, Given]>([
    ['an error', { status: 500, body: { data: [] } }],
    ['a redirect', { status: 302, body: { data: [] } }],
    ['no JSON', { body: 'hello' }],
    ['another shape', { body: { items: [] } }],
    ['too much', { body: 'x'.repeat(2_000_000) }],
  ])('returns 502 if it answers with %s [MEM-019]', async (_name, given) => {
    const { key } = await customer(() => given);
    const answer = await server.call('GET', '/v1/memory', { key });
    expect(codeOf(answer)).toEqual([502, 'memory_endpoint_error']);
    expect(answer.body.error.message).not.toContain('tenant=7');
  });

  it('may use its own ids, and items that are not facts are dropped without the rest [MEM-700, MEM-701]', async () => {
    const own = ['7', 'my-7', 'crm:Kunde/ä 7?', 'x'.repeat(128)];
    const good = own.map((id) => ({ ...item(`Fact ${id.slice(0, 9)}.`), id, object: undefined }));
    const bad = [
      { ...item('x'), id: undefined },
      { ...item('x'), id: '' },
      { ...item('x'), id: 'x'.repeat(129) },
      { ...item('x'), id: 'a\u0000b' },
      { ...item('x'), kind: 'gossip' },
      { ...item('x'), text: 7 },
      null,
      'Likes tea.',
    ];
    const all = good.flatMap((each, at) => [bad[2 * at], each, bad[2 * at + 1]]);
    const { key, calls } = await customer(({ body: { action, id, after, ...asked } }) => {
      if (action === 'delete') return { body: { deleted: own.includes(String(id)) } };
      const limit = Number(asked.limit);
      const from = after === null ? 0 : all.findIndex((each) => (each as { id?: string } | null)?.id === after) + 1;
      return { body: { data: all.slice(from, from + limit), profile: null } };
    });
    const { body: whole } = await server.call('GET', '/v1/memory?limit=50', { key });
    expect(whole.data.map(({ id }: { id: string }) => id)).toEqual(own);
    expect(whole.data[0].object).toBe('memory');
    // A page that lost items is filled up, so that the following pages are found.
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const { body: shown } = await server.call('GET', `/v1/memory?limit=2${cursor}`, { key });
      paged.push(...shown.data.map(({ id }: { id: string }) => id));
      if (shown.next_cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(shown.next_cursor)}`;
    }
    expect(paged).toEqual(own);
    for (const id of own) {
      const { status, body } = await server.call('DELETE', `/v1/memory/${encodeURIComponent(id)}`, { key });
      expect([status, body.id]).toEqual([200, id]);
      expect(calls.at(-1)?.body).toMatchObject({ action: 'delete', id });
    }
    for (const id of ['unknown', 'x'.repeat(129), 'a\u0000b']) {
      const gone = await server.call('DELETE', `/v1/memory/${encodeURIComponent(id)}`, { key });
      expect(codeOf(gone)).toEqual([404, 'memory_not_found']);
    }
  });

  it('returns 502 if it is unreachable or does not answer within 5 seconds [MEM-019]', async () => {
    const { key } = await customer(() => 'silence');
    expect(codeOf(await server.call('GET', '/v1/memory', { key }))).toEqual([502, 'memory_endpoint_error']);
    const gone = await server.newOrg({ memory_mode: 'customer', memory_endpoint: 'http://127.0.0.1:9/' });
    const added = await server.call('POST', '/v1/memory', { key: gone.key, body: { text: 'Likes tea.' } });
    expect(codeOf(added)).toEqual([502, 'memory_endpoint_error']);
  });

  it('gets a repeated request once', async () => {
    const { key, calls } = await customer(keeper());
    const send = () =>
      server.call('POST', '/v1/memory', {
        key,
        body: { text: 'Likes tea.' },
        headers: { 'idempotency-key': 'once' },
      });
    const answers = await Promise.all([send(), send(), send()]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(calls).toHaveLength(1);
  });

  it('never gets a fact that must not be remembered', async () => {
    const { key, calls } = await customer(keeper());
    const refused = await server.call('POST', '/v1/memory', { key, body: { text: 'My password is hunter2' } });
    expect(codeOf(refused)).toEqual([400, 'invalid_memory']);
    expect(calls).toEqual([]);
  });

  it('serves the agent, and prompts are built without it if it fails', async () => {
    const { id: orgId, calls } = await customer(keeper());
    const tenant = { orgId, mode: 'test' } as const;
    await server.newUser(orgId, 'ana');
    const place = { userId: 'ana', mode: 'customer', isSaidSince: () => true } as const;
    const fact = { text: 'Likes green tea.', kind: 'preference', source: 'agent_inferred' } as const;
    expect(await server.memory.remember(tenant, { ...place, ...fact })).toEqual({ id: expect.stringMatching(/^mem_/) });
    expect(calls[0]?.body.memory).toMatchObject(fact);
    expect(await server.memory.recall(tenant, { ...place, query: 'tea', limit: 3 })).toEqual([
      { text: 'Likes green tea.', kind: 'other' },
    ]);
    expect(await server.memory.promptFacts(tenant, { ...place, query: 'tea' })).toEqual([
      'Kept elsewhere',
      'Likes green tea.',
    ]);
    // A fact that is sent again has the same id, so that the endpoint can store it once.
    const again = await server.memory.remember(tenant, { ...place, ...fact, text: 'likes green tea' });
    expect(calls[0]?.body.memory).toMatchObject(again);
    const broken = await customer(() => ({ status: 500, body: {} }));
    const theirs = { orgId: broken.id, mode: 'test' } as const;
    await server.newUser(broken.id, 'ana');
    expect(await server.memory.promptFacts(theirs, { ...place, query: 'tea' })).toBeNull();
    // The next replies and tools do not wait for it again. Another mode of the org does.
    await expect.poll(() => broken.calls.length).toBe(2);
    expect(await server.memory.promptFacts(theirs, { ...place, query: 'tea' })).toBeNull();
    await expect(server.memory.recall(theirs, { ...place, query: 'tea', limit: 3 })).rejects.toThrow('a moment ago');
    await expect(server.memory.remember(theirs, { ...place, ...fact })).rejects.toThrow('a moment ago');
    expect(broken.calls).toHaveLength(2);
    await server.memory.promptFacts({ ...theirs, mode: 'live' }, { ...place, query: 'tea' });
    expect(broken.calls.length).toBeGreaterThan(2);
  });

  it('has a secret that the API can roll and that no other request shows [MEM-306]', async () => {
    const { id: orgId, key, liveKey, calls } = await customer(keeper(), ['admin', 'runtime']);
    const rolled = await server.call('POST', '/v1/org/memory-endpoint/roll-secret', { key });
    expect([rolled.status, rolled.body.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    await server.call('GET', '/v1/memory', { key });
    await server.call('GET', '/v1/memory', { key: liveKey });
    const [inTest, inLive] = calls as [Call, Call];
    const isGood = (secret: string, { raw, headers }: Call) => {
      try {
        return new Webhook(secret).verify(raw, headers as Record<string, string>) !== null;
      } catch {
        return false;
      }
    };
    const old = memoryEndpointSecret(signingSecret, { orgId, mode: 'test' }, { memory_secret_number: 0 });
    expect([isGood(rolled.body.secret, inTest), isGood(old, inTest), isGood(rolled.body.secret, inLive)]).toEqual([
      true,
      true,
      false,
    ]);
    await updateSettings(server.db, { orgId, mode: 'test' }, { memory_secret_rolled_at: new Date(0) });
    await server.call('GET', '/v1/memory', { key });
    const later = calls[2] as Call;
    expect([isGood(rolled.body.secret, later), isGood(old, later)]).toEqual([true, false]);
    const refused = await server.call('POST', '/v1/org/memory-endpoint/roll-secret', {
      key: (await server.newOrg()).key,
    });
    expect(refused.status).toBe(403);
  });
});
