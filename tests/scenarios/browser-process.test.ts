import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  browsersUnder,
  type Sites,
  startSites,
  withDescendants,
} from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
let sites: Sites;
let dataDir: string;
beforeAll(async () => {
  sites = await startSites();
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-browser-'));
  server = await startAgentServer({ env: { VESTRA_DATA_DIR: dataDir, VESTRA_COMPUTER_IDLE_SECONDS: '1' } });
  await server.apply({ name: 'shop', browser: { allowed_domains: ['shop.localhost'] } });
  sites.serve('shop.localhost', {
    '/': 'The shop',
    '/sign-in': (_request, response) => response.setHeader('set-cookie', 'kept=1; Max-Age=3600').end('In'),
    '/who': (request, response) =>
      response.setHeader('content-type', 'text/html').end(`<title>${request.headers.cookie}</title>`),
  });
});
afterAll(async () => {
  await sites.close();
  await rm(dataDir, { recursive: true, force: true });
});

const fetchPage = (path: string, more: Record<string, unknown> = {}) =>
  server.call('POST', '/v1/users/ada/browser/fetch', { body: { url: sites.at('shop.localhost', path), ...more } });
const running = () => browsersUnder(dataDir);

/** The process may have ended since it was listed. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

describe('the browser of a computer', () => {
  it('that is killed cuts the fetch, and the next one starts it again', async () => {
    const asked = Promise.withResolvers<void>();
    sites.serve('shop.localhost', { '/held': () => asked.resolve() });
    const cut = fetchPage('/held');
    await asked.promise;
    const pids = await withDescendants(await running());
    expect(pids.length).toBeGreaterThan(3);
    // Stopped first, so that the browser does not report the death of one of its processes as a page that failed to load.
    for (const pid of pids) signal(pid, 'SIGSTOP');
    for (const pid of await running()) signal(pid, 'SIGKILL');
    const { status, body } = await cut;
    expect([status, body.error.code]).toEqual([503, 'computer_unavailable']);
    expect((await fetchPage('/')).status).toBe(200);
  });

  it('ends when the computer sleeps, and wakes as it was [BRW-030]', async () => {
    await fetchPage('/sign-in', { keep_open_ms: 1000 });
    expect(await running()).not.toEqual([]);
    await expect.poll(running, { timeout: 30_000, interval: 200 }).toEqual([]);
    expect((await fetchPage('/who')).body).toMatchObject({ status: 200, title: 'kept=1' });
    const { body } = await server.call('POST', '/v1/users/ada/browser/fetch', { body: {} });
    expect(body.error.code).toBe('no_open_tab');
  });

  it('ends with the server', async () => {
    await fetchPage('/', { keep_open_ms: 60_000 });
    expect(await running()).not.toEqual([]);
    await server.stop();
    expect(await running()).toEqual([]);
  });
});
