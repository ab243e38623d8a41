import { recordAudit } from '../../account/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import { deploymentFor } from '../../engine/conversations/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import type { UserRow } from '../../users/index.ts';
import type { BlockedPage, SiteRules } from '../chromium/request-guard.ts';

/** The sites and pages of a version, from its manifest. */
export type SiteSettings = {
  allowed_domains?: readonly string[] | undefined;
  blocked_paths?: readonly string[] | undefined;
} | null;

/** Rules for a fetch: no site at all if the version names none. */
export function fetchRules(settings: SiteSettings): SiteRules {
  return rulesFor(settings?.allowed_domains ?? [], settings?.blocked_paths ?? []);
}

/** Rules for the agent: every site if the version names none. */
export function agentRules(settings: SiteSettings): SiteRules {
  return rulesFor(settings?.allowed_domains ?? null, settings?.blocked_paths ?? []);
}

type Verdict = { kind: 'open' } | { kind: 'site' } | { kind: 'page'; page: BlockedPage };

export function verdictOn(rules: SiteRules, address: string): Verdict {
  if (!URL.canParse(address)) return { kind: 'site' };
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol) || !rules.mayReach(url.hostname)) return { kind: 'site' };
  const page = rules.blockedPage(url);
  return page ? { kind: 'page', page } : { kind: 'open' };
}

function rulesFor(domains: readonly string[] | null, blocked: readonly string[]): SiteRules {
  const hosts = domains?.map(plainHost).flatMap((host) => [host, `www.${host}`]) ?? null;
  const allowed = hosts && new Set(hosts);
  const closed = blocked.map(readBlocked);
  return {
    hosts,
    mayReach: (host) => allowed?.has(plainHost(host)) ?? true,
    blockedPage({ hostname, pathname }) {
      const host = plainHost(hostname);
      const readings = readingsOf(pathname);
      const isClosed = closed.some(
        ({ site, starts }) =>
          (host === site || host === `www.${site}`) &&
          starts.some((start) => readings.some((reading) => reading.startsWith(start))),
      );
      return isClosed ? { host, path: pathname } : null;
    },
  };
}

/** Lower case, without trailing dots. */
const plainHost = (host: string) => host.toLowerCase().replace(/\.+$/, '');

function readBlocked(entry: string): { site: string; starts: string[] } {
  const slash = entry.indexOf('/');
  return { site: plainHost(entry.slice(0, slash)), starts: readingsOf(entry.slice(slash)) };
}

const maxDecodings = 5;

/**
 * Every way in which a server may read a path. It may decode once or more, drop parameters after semicolons, or join
 * double slashes before or after resolving dots. A page is blocked if one of these readings leads to it.
 */
function readingsOf(path: string): string[] {
  const readings = new Set<string>();
  let text = path;
  for (let times = 0; times <= maxDecodings; times++) {
    for (const each of [text, text.replace(/;[^/]*/g, '')]) {
      readings.add(followDots(each));
      readings.add(followDots(each.replace(/[\\/]+/g, '/')));
    }
    const decoded = decode(text);
    if (decoded === text) break;
    text = decoded;
  }
  return [...readings];
}

/** Text that cannot be decoded stays as it is: a server would not read it either. */
function decode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (coded) => {
    const bytes = Buffer.from(coded.replaceAll('%', ''), 'hex');
    return bytes.toString('utf8');
  });
}

function followDots(path: string): string {
  const kept: string[] = [];
  const segments = path.replaceAll('\\', '/').toLowerCase().split('/').slice(1);
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === '.' || segment === '..') {
      if (segment === '..') kept.pop();
      if (isLast) kept.push('');
    } else {
      kept.push(segment);
    }
  }
  return `/${kept.join('/')}`.replace(/\/{2,}/g, '/');
}

/** The deployment whose rules apply: the named one, or else the user's, or else the org's. */
export async function deploymentOfBrowser(
  db: Database,
  tenant: Tenant,
  user: UserRow | null,
  named: string | undefined,
): Promise<{ deploymentId: string; settings: SiteSettings }> {
  const { deployment, pinned } = await deploymentFor(db, tenant, named, user);
  const version = versionToRun(deployment, tenant.mode, pinned);
  const { browser } = await manifestOf(db, deployment.id, version);
  return { deploymentId: deployment.id, settings: browser };
}

/** Leaves out the query, which may contain personal data. */
export async function recordBlocked(
  db: Executor,
  origin: Origin,
  userId: string | null,
  { host, path }: BlockedPage,
): Promise<void> {
  await recordAudit(db, origin, {
    action: 'browser.page_blocked',
    ...(userId !== null && { target: { type: 'user', id: userId } }),
    details: { host, path },
  });
}
