import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { ResponseOf } from '@vestra/contract/route';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { requireRequestedUser } from '../../users/index.ts';
import type { BrowserPool } from './browser-pool.ts';
import { deploymentOfBrowser } from './site-access.ts';
import { fetchRules } from './site-rules.ts';

export type CookieQuery = { domain: string; names: readonly string[]; deployment?: string | undefined };
export type FoundCookies = ResponseOf<Api['browser']['cookies']>;

/** Which of these cookies the browser would send to the site, and until when. It opens no page and shows no value. */
export async function findCookies(
  { db, browserPool }: { db: Database; browserPool: BrowserPool },
  tenant: Tenant,
  userId: string,
  { domain, names, deployment }: CookieQuery,
): Promise<FoundCookies> {
  const user = await requireRequestedUser(db, tenant, userId);
  const { settings } = await deploymentOfBrowser(db, tenant, user, deployment);
  if (!fetchRules(settings).mayReach(domain)) throw fail('domain_not_allowed', { param: 'domain' });
  const site = domain.toLowerCase();
  const held = await browserPool.use({ orgId: tenant.orgId, mode: tenant.mode, userId }, (browser) =>
    browser.cookies(),
  );
  const cookies = held
    .filter((cookie) => names.includes(cookie.name) && isOfSite(cookie, site))
    .map(({ name, domain: of, expiresAt }) => ({ name, domain: of, expires_at: expiresAt?.toISOString() ?? null }))
    .sort((one, other) => one.name.localeCompare(other.name) || one.domain.localeCompare(other.domain));
  return { object: 'browser_cookies', domain: site, cookies };
}

/** The site's own, those of a domain above it, and those of its `www.` form, which is the same site here. */
function isOfSite({ domain, isOfHostAlone }: { domain: string; isOfHostAlone: boolean }, site: string): boolean {
  const of = domain.toLowerCase();
  return of === site || of === `www.${site}` || (!isOfHostAlone && site.endsWith(`.${of}`));
}
