import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import { nearest } from '@vestra/contract/nearest';
import { deploymentSlug } from '@vestra/contract/slug';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { hasBeenLive } from '../versions/store.ts';
import { findById, findByName, findBySlug, lockById, newestSlugs } from './store.ts';
import type { DeploymentRow } from './tables.ts';

/** A deployment that a request named. `version` is null unless the request pins one. */
type NamedDeployment = { deployment: DeploymentRow; version: number | null };

/** Finds by id, slug or name, each with an optional `@version`. That version may not exist. */
export async function findDeployment(
  db: Executor,
  orgId: string,
  reference: string,
): Promise<NamedDeployment | undefined> {
  for (const { deployment, version } of readReference(reference)) {
    const row = await findByReference(db, orgId, deployment);
    if (row) return { deployment: row, version };
  }
  return undefined;
}

/** Finds the deployment of a path by id, slug or name. A path never pins a version. */
export async function requireDeployment(db: Executor, orgId: string, reference: string): Promise<DeploymentRow> {
  const row = await findByReference(db, orgId, reference);
  if (!row) throw fail('deployment_not_found', { message: await noSuchDeployment(db, orgId, reference) });
  return row;
}

/** Locks the deployment of a path until the transaction ends, so that concurrent changes run one after the other. */
export async function lockDeployment(tx: Transaction, orgId: string, reference: string): Promise<DeploymentRow> {
  return relockDeployment(tx, await requireDeployment(tx, orgId, reference));
}

/** Reads the row again under a lock: it may have changed since it was read. */
export async function relockDeployment(tx: Transaction, { id }: Pick<DeploymentRow, 'id'>): Promise<DeploymentRow> {
  const row = await lockById(tx, id, 'no key update');
  if (!row) throw fail('deployment_not_found');
  return row;
}

/**
 * Finds the deployment that the field `param` of a body names. If the reference pins a version, that version exists. In
 * live mode it has been live: a key that may only run agents must not run a draft for live users.
 */
export async function resolveDeployment(
  db: Executor,
  { orgId, mode }: Tenant,
  reference: string,
  param: string,
): Promise<NamedDeployment> {
  const found = await findDeployment(db, orgId, reference);
  if (!found) {
    throw fail('invalid_deployment', { param, message: await noSuchDeployment(db, orgId, reference) });
  }
  const { deployment, version } = found;
  if (version !== null && version > deployment.last_version) {
    throw fail('invalid_deployment', {
      param,
      message: `\`${deployment.slug}\` has no version ${version}: its newest is ${deployment.last_version}. Name that one, or an older one.`,
    });
  }
  if (version !== null && mode === 'live' && !(await hasBeenLive(db, deployment.id, version))) {
    throw fail('deployment_not_live', {
      param,
      message: `Version ${version} of \`${deployment.slug}\` has never been live. Promote it, or use a test key.`,
    });
  }
  return found;
}

/** Finds a deployment that must be named without a version, and prevents its deletion until the transaction ends. */
export async function holdDeployment(
  tx: Transaction,
  orgId: string,
  reference: string,
  param: string,
): Promise<DeploymentRow> {
  // The mode does not matter, since a version is refused.
  const { deployment, version } = await resolveDeployment(tx, { orgId, mode: 'test' }, reference, param);
  if (version !== null) {
    throw fail('invalid_deployment', { param, message: 'Name the deployment without a version here.' });
  }
  const held = await lockById(tx, deployment.id, 'key share');
  if (!held) throw fail('invalid_deployment', { param, message: 'No such deployment: it was just deleted.' });
  return held;
}

/** Says that nothing has this name, with the names that it may have been meant to be, or the next step. */
export async function noSuchDeployment(db: Executor, orgId: string, reference: string): Promise<string> {
  const slugs = await newestSlugs(db, orgId);
  const [{ deployment: name } = { deployment: reference }] = readReference(reference);
  return `No such deployment${sayNearest(name, slugs) ?? sayNext(slugs.length)}`;
}

function sayNearest(name: string, slugs: readonly string[]): string | null {
  const near = nearest(name, slugs);
  return near.length === 0 ? null : `. Did you mean ${near.map((slug) => `\`${slug}\``).join(' or ')}?`;
}

const sayNext = (count: number) =>
  count === 0
    ? ': there is none yet. Create one with `vestra apply` or PUT /v1/deployments/{name}.'
    : ': `vestra deployments list` or GET /v1/deployments shows them.';

/** A slug takes precedence over a name. If several deployments share a name, the oldest one is found. */
async function findByReference(db: Executor, orgId: string, reference: string): Promise<DeploymentRow | undefined> {
  if (idPattern('dep').test(reference)) return findById(db, orgId, reference);
  const bySlug = isSlug(reference) ? await findBySlug(db, orgId, reference) : undefined;
  return bySlug ?? findByName(db, orgId, reference);
}

const isSlug = (text: string) => deploymentSlug.safeParse(text).success;

/** A reference to a deployment by id, slug or name, with an optional version. */
type Reference = { deployment: string; version: number | null };

/** At most nine digits: a longer number would not fit the column. */
const pinned = /^(.+)@([1-9][0-9]{0,8})$/su;

/**
 * Lists possible readings, the likeliest first. A name may contain `@`: `Desk@2` is version 2 of `Desk` or, if there is
 * no `Desk`, the deployment named `Desk@2`.
 */
export function readReference(text: string): Reference[] {
  const whole: Reference = { deployment: text, version: null };
  const [, deployment, version] = pinned.exec(text) ?? [];
  if (deployment === undefined) return [whole];
  return [{ deployment, version: Number(version) }, whole];
}
