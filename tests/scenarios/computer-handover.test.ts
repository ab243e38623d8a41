import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { door } from './conversations.fixture.ts';

/** It answers requests and has no computers. */
let server: AgentServer;
let sites: Sites;
let dataDir: string;
beforeAll(async () => {
  sites = await startSites();
  sites.serve('shop.localhost', { '/': '<title>Shop</title><h1>Shop</h1>' });
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-handover-'));
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  await server.apply({ name: 'shop', memory: 'none', browser: { allowed_domains: ['shop.localhost'] } });
});
afterAll(async () => {
  await server.stop();
  await sites.close();
  await rm(dataDir, { recursive: true, force: true });
});

const startHost = () =>
  startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'all', VESTRA_DATA_DIR: dataDir } });

const fetchPage = async (at: Pick<TestServer, 'call'>, user: string) => {
  const body = { url: sites.at('shop.localhost', '/'), keep_open_ms: 600_000 };
  const answer = await at.call('POST', `/v1/users/${user}/browser/fetch`, { body });
  return answer.status === 200 ? answer.body.title : answer.text;
};

it('a process that shuts down gives each computer to the others as soon as no run there uses it [OPS-739]', async () => {
  const leaver = await startHost();
  expect(await Promise.all(['ada', 'bob'].map((user) => fetchPage(leaver, user)))).toEqual(['Shop', 'Shop']);
  const [asked, answered] = [door(), door()];
  server.script(async () => {
    asked.open();
    await answered.opened;
    return { text: 'To the end.' };
  });
  const { body: begun } = await leaver.call('POST', '/v1/conversations', { body: { user_id: 'bob', message: 'Hi' } });
  await asked.opened;
  const other = await startHost();
  const stopping = leaver.stop();
  await expect.poll(() => fetch(`${leaver.url}/health/live`).then(String, () => 'refused')).toBe('refused');

  expect(await fetchPage(other, 'ada')).toBe('Shop');
  // The run of Bob may still need his computer. The server without computers waits in the same way.
  let isHere = false;
  const ofBob = fetchPage(server, 'bob').finally(() => {
    isHere = true;
  });
  expect([await fetchPage(server, 'ada'), isHere]).toEqual(['Shop', false]);
  answered.open();
  expect(await ofBob).toBe('Shop');
  await stopping;
  await server.until(`/v1/conversations/${begun.id}`, ({ status }) => status === 'idle');
  await other.stop();
});
