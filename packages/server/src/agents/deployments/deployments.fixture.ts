import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import { startTestApp, systemOrigin } from '../../../../../tests/support/app.ts';
import { createKey } from '../../account/keys/keys.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { defaultManifest, type Manifest, noContent, noFileObjects } from '../versions/manifest.ts';
import { type DeploymentDependencies, deploymentRoutes } from './routes.ts';
import { insertDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';

export const author = { type: 'system', id: 'system', name: 'Vestra' } as const;

/** Starts the deployment routes with test doubles for the dependencies from other modules. */
export function startDeployments(given: Partial<Omit<DeploymentDependencies, 'db'>> = {}) {
  return startTestApp(({ db }) => ({
    deployments: deploymentRoutes({
      db,
      checkManifest: async (_tx, _caller, manifest) => manifest as Manifest,
      fixContent: async () => noContent,
      releaseContent: async () => {},
      renderFile: async (_db, { slug }, { version }) => `name: ${slug}\n# version ${version}\n`,
      latestTestRuns: async () => new Map(),
      ...given,
    }),
  }));
}

export async function newOrg(db: Database) {
  const orgId = newId('org');
  await insertOrg(db, { id: orgId, name: `Org ${orgId.slice(-4)}`, wrapped_data_key: randomBytes(32) });
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, systemOrigin(orgId), { name: `${mode} key`, mode, scopes }))).key;
  return { id: orgId, newKey, testKey: await newKey('test', ['setup']), liveKey: await newKey('live', ['setup']) };
}

/** Inserts a deployment with its first version directly, without a request. */
export async function newDeployment(
  db: Database,
  orgId: string,
  wanted: { slug?: string; name?: string; manifest?: Partial<Manifest> } = {},
): Promise<DeploymentRow> {
  const { slug = `d${randomBytes(6).toString('hex')}`, manifest = {} } = wanted;
  const { name = slug } = wanted;
  const made = await transaction(db, (tx) =>
    insertDeployment(tx, { orgId, slug, name, description: '' }, content(manifest)),
  );
  if (!made) throw new Error(`The slug ${slug} is taken.`);
  return made.deployment;
}

export const content = (manifest: Partial<Manifest> = {}) => ({
  manifest: { ...defaultManifest, ...manifest },
  fileObjects: noFileObjects,
  content: noContent,
  changed: Object.keys(manifest),
  note: null,
  createdBy: author,
});
