import { fail } from '@vestra/contract/errors';
import { type DeploymentRow, deploymentsUsing } from '../../agents/deployments/index.ts';
import {
  assertMayChange,
  type RegisteredServer,
  registerServer,
  updateServer,
} from '../../agents/tool-servers/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ServerEntry } from '../file/parts.ts';
import { nameOfServer, wantedChanges, wantedHeaders } from '../file/server-entry.ts';
import { freeServerSlug, type PlannedServer } from '../read/plan-servers.ts';

type Place = { caller: Caller; origin: Origin; deployment: DeploymentRow | null };

/** The servers of a file in their order, registered or changed as it asks; `changed` where it did either. */
export async function placeServers(
  tx: Transaction,
  { planned, ...place }: Place & { planned: readonly PlannedServer[] },
): Promise<{ servers: RegisteredServer[]; changed: boolean }> {
  const servers: RegisteredServer[] = [];
  for (const plan of planned) {
    servers.push(
      plan.registered
        ? await changeServer(tx, place, { ...plan, registered: plan.registered })
        : await register(tx, place, plan),
    );
  }
  return { servers, changed: servers.some((server, at) => server !== planned[at]?.registered) };
}

/** The API may have taken the slug since it was found free; each round that fails has seen it taken, so they end. */
async function register(
  tx: Transaction,
  { origin }: Place,
  { entry, slug: planned }: PlannedServer,
): Promise<RegisteredServer> {
  const name = nameOfServer(entry);
  for (let slug = planned; ; ) {
    const server = { slug, name, url: entry.mcp, headers: wantedHeaders(entry) ?? {} };
    const registered = await registerServer(tx, origin, server);
    if (registered) return registered;
    slug = await freeServerSlug(tx, { orgId: origin.orgId, name, promised: new Set() });
  }
}

async function changeServer(
  tx: Transaction,
  { caller, origin, deployment }: Place,
  { at, entry, registered }: PlannedServer & { registered: RegisteredServer },
): Promise<RegisteredServer> {
  const { name, headers } = wantedChanges(entry as ServerEntry, registered);
  if (name === undefined && headers === undefined) return registered;
  const users = await deploymentsUsing(tx, origin.orgId, registered.id);
  const others = users.filter(
    ({ id, status, isLive, isDraft }) => id !== deployment?.id && status === 'active' && (isLive || isDraft),
  );
  const param = headers ? (entry.auth === undefined ? `${at}.headers` : `${at}.auth`) : `${at}.name`;
  if (headers && others.length > 0) {
    throw fail('mcp_server_shared', {
      param,
      deployments: others.map(({ slug }) => slug),
      message: `Other deployments run \`${registered.slug}\` with other headers: ${others.map(({ slug }) => slug).join(', ')}. Change the server itself, or leave \`auth\` and \`headers\` out to use it as it is.`,
    });
  }
  // A server keeps the name under which others know it.
  if (!headers && others.length > 0) return registered;
  await assertMayChange(tx, caller, registered.id, param);
  return updateServer(tx, origin, registered.id, {
    ...(name !== undefined && others.length === 0 && { name }),
    ...(headers && { headers }),
  });
}
