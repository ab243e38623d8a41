import type { Caller } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { EventStream, type Handlers, Reply } from '../platform/http/handler.ts';
import type { Streams } from '../platform/http/streams.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import { requireRequestedUser } from '../users/index.ts';
import type { AgentComputers } from './agent-computers.ts';
import type { RemoteBrowsers } from './browser/remote-browser.ts';
import { deploymentOfBrowser } from './browser/site-rules.ts';
import type { Owner } from './store.ts';
import { warmComputer } from './warm-computer.ts';

type Dependencies = { db: Database; jobs: JobSender; work: Pick<AgentComputers, 'assertAvailable'> };

export function computerRoutes({ db, jobs, work }: Dependencies): Handlers<'users'> {
  return {
    warm: async ({ caller, params, body }) => {
      await work.assertAvailable();
      const status = await warmComputer({ db, jobs }, caller, params.user_id, body?.keep_ms);
      return new Reply({ user_id: params.user_id, status }, { status: status === 'ready' ? 200 : 202 });
    },
  };
}

type BrowserDependencies = { db: Database; browsers: RemoteBrowsers; streams: Streams };

export function browserRoutes({ db, browsers, streams }: BrowserDependencies): Handlers<'browser'> {
  return {
    fetch: ({ caller, origin, params, body, signal }) => {
      const held = streams.open(caller, signal);
      const { orgId, mode, actor, requestId, ip } = origin;
      const asked = { origin: { orgId, mode, actor, requestId, ip }, body };
      return browsers.fetch(ownerOf(caller, params.user_id), asked, held.signal).finally(held.close);
    },
    cookies: ({ caller, params, query, signal }) => browsers.cookies(ownerOf(caller, params.user_id), query, signal),
    watch: async ({ caller, params, query, signal }) => {
      const user = await requireRequestedUser(db, caller, params.user_id);
      const { settings } = await deploymentOfBrowser(db, caller, user, query.deployment);
      return new EventStream(streams.open(caller, signal), browsers.watch(ownerOf(caller, params.user_id), settings));
    },
  };
}

export function screenRoutes({ db, browsers }: Omit<BrowserDependencies, 'streams'>): Handlers<'users'> {
  return {
    screenshot: async ({ caller, params, signal }) => {
      await requireRequestedUser(db, caller, params.user_id);
      const picture = await browsers.screenshot(ownerOf(caller, params.user_id), null, signal);
      return new Response(new Uint8Array(picture), { headers: { 'content-type': 'image/jpeg' } });
    },
  };
}

const ownerOf = ({ orgId, mode }: Caller, userId: string): Owner => ({ orgId, mode, userId });
