import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { EventStream, type Handlers } from '../../platform/http/handler.ts';
import type { Streams } from '../../platform/http/streams.ts';
import { requireRequestedUser } from '../../users/index.ts';
import type { Owner } from '../store.ts';
import type { Browsers } from './at-holder.ts';
import { deploymentOfBrowser } from './site-access.ts';

type Dependencies = { db: Database; browsers: Browsers; streams: Streams };

export function browserRoutes({ db, browsers, streams }: Dependencies): Handlers<'browser'> {
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

/** The routes of users that are about their screen. */
export function screenRoutes({ db, browsers }: Omit<Dependencies, 'streams'>): Handlers<'users'> {
  return {
    screenshot: async ({ caller, params, signal }) => {
      await requireRequestedUser(db, caller, params.user_id);
      const picture = await browsers.screenshot(ownerOf(caller, params.user_id), null, signal);
      return new Response(new Uint8Array(picture), { headers: { 'content-type': 'image/jpeg' } });
    },
  };
}

const ownerOf = ({ orgId, mode }: Caller, userId: string): Owner => ({ orgId, mode, userId });
