import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import { deploymentSlug } from '@vestra/contract/slug';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { findById, findByName, findBySlug, lockById } from './store.ts';
import type { DeploymentRow } from './tables.ts';

/** A deployment as a request names it; `version` where the request pins one. */
type NamedDeployment = { deployment: DeploymentRow; version: number | null };

/** By id, slug or name, each with an optional `@version`, which may be one that does not exist. */
export async function findDeployment(
  db: Executor,
  orgId: string,
  reference: string,
): Promise<NamedDeployment | undefined> {
  for (const { deployment, version } of readReference(reference)) {
    const row = await findExactly(db, orgId, deployment);
    if (row) return { deployment: row, version };
  }
  return undefined;
}

/** What a path names: id, slug or name, never a version. */
export async function requireDeployment(db: Executor, orgId: string, reference: string): Promise<DeploymentRow> {
  const row = await findExactly(db, orgId, reference);
  if (!row) throw fail('deployment_not_found');
  return row;
}

/** What a path names, held until the transaction ends, so that changes at once are judged one after the other. */
export async function lockDeployment(tx: Transaction, orgId: string, reference: string): Promise<DeploymentRow> {
  return lockAgain(tx, await requireDeployment(tx, orgId, reference));
}

/** The row as it is now, which may be another than when it was read. */
export async function lockAgain(tx: Transaction, { id }: Pick<DeploymentRow, 'id'>): Promise<DeploymentRow> {
  const row = await lockById(tx, id, 'no key update');
  if (!row) throw fail('deployment_not_found');
  return row;
}

/** What a body names in its field `param`; a version that it pins exists. */
export async function resolveDeployment(
  db: Executor,
  orgId: string,
  reference: string,
  param: string,
): Promise<NamedDeployment> {
  const found = await findDeployment(db, orgId, reference);
  if (!found) throw noDeployment(param);
  const { deployment, version } = found;
  if (version !== null && version > deployment.last_version) {
    throw fail('invalid_deployment', {
      param,
      message: `\`${deployment.slug}\` has no version ${version}: its last is ${deployment.last_version}.`,
    });
  }
  return found;
}

/** What a body names where a version makes no sense; it cannot be deleted until the transaction ends. */
export async function holdDeployment(
  tx: Transaction,
  orgId: string,
  reference: string,
  param: string,
): Promise<DeploymentRow> {
  const { deployment, version } = await resolveDeployment(tx, orgId, reference, param);
  if (version !== null) {
    throw fail('invalid_deployment', { param, message: 'Name the deployment without a version here.' });
  }
  const held = await lockById(tx, deployment.id, 'key share');
  if (!held) throw noDeployment(param);
  return held;
}

const noDeployment = (param: string) => fail('invalid_deployment', { param, message: 'No such deployment.' });

/** A slug goes before a name; of several deployments with one name the oldest is meant. */
async function findExactly(db: Executor, orgId: string, reference: string): Promise<DeploymentRow | undefined> {
  if (idPattern('dep').test(reference)) return findById(db, orgId, reference);
  const bySlug = isSlug(reference) ? await findBySlug(db, orgId, reference) : undefined;
  return bySlug ?? findByName(db, orgId, reference);
}

const isSlug = (text: string) => deploymentSlug.safeParse(text).success;

/** How a request names a deployment: by id, slug or name, perhaps at one version. */
type Reference = { deployment: string; version: number | null };

/** Nine digits: what is longer names no version and would not fit the column. */
const pinned = /^(.+)@([1-9][0-9]{0,8})$/su;

/**
 * What the text may mean, the likeliest reading first. A name may hold `@` itself, so `Desk@2` is version 2 of `Desk`
 * and, where there is no `Desk`, the deployment that is called so.
 */
export function readReference(text: string): Reference[] {
  const whole: Reference = { deployment: text, version: null };
  const [, deployment, version] = pinned.exec(text) ?? [];
  if (deployment === undefined) return [whole];
  return [{ deployment, version: Number(version) }, whole];
}
