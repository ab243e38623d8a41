import type { Database } from '../../db/pool.ts';
import { EventStream, type Handlers } from '../../http/handler.ts';
import type { Streams } from '../../http/streams.ts';
import { requireAskedUser } from '../users/api.ts';
import type { BrowserPool } from './browser-pool.ts';
import { findCookies } from './cookies.ts';
import { fetchPage } from './fetch.ts';
import { takeScreenshot } from './screenshot.ts';
import { deploymentOfBrowser } from './site-access.ts';
import { fetchRules } from './site-rules.ts';
import { watchTabs } from './watch.ts';

type Dependencies = { db: Database; browserPool: BrowserPool; streams: Streams };

export function browserRoutes({ db, browserPool, streams }: Dependencies): Handlers<'browser'> {
  return {
    fetch: ({ caller, origin, params, body, signal }) => {
      const held = streams.open(caller, signal);
      return fetchPage({ db, browserPool }, origin, params.user_id, body, held.signal).finally(held.close);
    },
    cookies: ({ caller, params, query }) => findCookies({ db, browserPool }, caller, params.user_id, query),
    watch: async ({ caller, params, query, signal }) => {
      const user = await requireAskedUser(db, caller, params.user_id);
      const { settings } = await deploymentOfBrowser(db, caller, user, query.deployment);
      const owner = { orgId: caller.orgId, mode: caller.mode, userId: params.user_id };
      return new EventStream(streams.open(caller, signal), watchTabs(browserPool, owner, fetchRules(settings)));
    },
  };
}

/** The routes of users that are about their screen. */
export function screenRoutes({ db, browserPool }: Omit<Dependencies, 'streams'>): Handlers<'users'> {
  return {
    screenshot: async ({ caller, params }) => {
      await requireAskedUser(db, caller, params.user_id);
      const owner = { orgId: caller.orgId, mode: caller.mode, userId: params.user_id };
      const picture = await takeScreenshot(browserPool, owner);
      return new Response(new Uint8Array(picture), { headers: { 'content-type': 'image/jpeg' } });
    },
  };
}
