import { isDeepStrictEqual } from 'node:util';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import type { QueryOf, ResponseOf } from '@vestra/contract/route';
import { secretsIn } from '@vestra/contract/secrets-in-text';
import { readSecrets, recordAudit } from '../../account/index.ts';
import {
  type DeploymentRow,
  findDeployment,
  insertDeployment,
  lockDeployment,
  lockVersions,
  newestVersion,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import { authorOf, changedKeys, saveVersion } from '../../agents/versions/index.ts';
import { type CreatedEndpoint, isSigningSecret } from '../../automation/index.ts';
import { findTestRun, hasScenarios, latestRuns, replaceFileScenarios, type TestRun } from '../../evaluation/index.ts';
import type { Caller, Origin, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { changedContent, fixContent, hasOtherHeaders, ownHeaders } from '../promotion/content.ts';
import {
  activateFileObjects,
  presentPromotion,
  promoteAfterTestsPass,
  promoteNow,
  saveWithoutPromotion,
} from '../promotion/promotion.ts';
import { type CheckedFile, checkFile, type ReadFile, readFile } from './check-file.ts';
import { fixFiles } from './fix-files.ts';
import { changedFileKeys, fileToManifest, scenarioOfTest, type VersionContent } from './manifest.ts';
import { type DeploymentFile, type FileKey, fileKeys } from './parts.ts';
import { isSettled, placeServers } from './servers.ts';
import { fileWarnings } from './warnings.ts';

type Put = Api['deployments']['put'];
type Answer = ResponseOf<Put>;

export type Application = {
  caller: Caller;
  origin: Origin;
  /** From the path: the name of the file, or the id of a deployment. */
  reference: string;
  body: unknown;
  promote: QueryOf<Put>['promote'];
  /** The version that the file was written from. Without it the file replaces any version. */
  expected?: number | undefined;
  /** Keys with local files that a client would upload first. Only a plan has some. */
  uploads?: readonly FileKey[];
};

/**
 * Applies a whole deployment file, or nothing of it. A file that changes nothing takes no lock and writes nothing. Any
 * other is checked again under the lock of the org. So concurrent applies of one file save one version.
 */
export async function applyFile(
  tx: Transaction,
  dependencies: ApplyDependencies,
  application: Application,
): Promise<Answer> {
  const { caller, reference, body } = application;
  const found = await findApplied(tx, caller.orgId, reference);
  const read = await readFile(body, dependencies, isId(reference) ? found?.slug : reference);
  const newest = found ? { deployment: found, version: await newestVersion(tx, found) } : null;
  const checked = await checkFile(tx, { caller, read, newest, hold: false });
  if (isId(reference) && !found) throw fail('deployment_not_found');
  if (newest) {
    assertActive(newest.deployment);
    const unchanged = await answerUnchanged(tx, dependencies, application, { ...newest, checked });
    if (unchanged) return unchanged;
  }
  await lockVersions(tx, caller.orgId);
  return writeFile(tx, dependencies, application, read);
}

const isId = (reference: string) => idPattern('dep').test(reference);

/** A file names a deployment by its slug. Display names are not unique. */
export async function findApplied(
  tx: Transaction,
  orgId: string,
  reference: string,
): Promise<DeploymentRow | undefined> {
  const found = await findDeployment(tx, orgId, reference);
  if (!found || found.version !== null) return undefined;
  const { deployment } = found;
  return isId(reference) || deployment.slug === reference ? deployment : undefined;
}

function assertActive({ status }: DeploymentRow): void {
  if (status === 'archived') throw fail('deployment_archived');
}

/** Checked only before a write: a file that is sent again after a lost response is already saved. */
function assertExpected({ expected }: Application, before: DeploymentRow | null): void {
  if (expected === undefined || expected === (before?.newest_version ?? 0)) return;
  throw fail('deployment_changed', { param: 'expected_version' });
}

const savedOf = ({ manifest, file_objects }: VersionRow): VersionContent => ({ manifest, fileObjects: file_objects });

/**
 * Returns undefined if the file or its references change something, or if the mode has to run a newer version. A
 * version whose tests failed is not tested again: the response shows that run.
 */
async function answerUnchanged(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { caller, origin, promote, uploads = [] }: Application,
  { deployment, version, checked }: { deployment: DeploymentRow; version: VersionRow; checked: CheckedFile },
): Promise<Answer | undefined> {
  const { file, servers } = checked;
  const running = origin.mode === 'live' ? deployment.live_version : deployment.draft_version;
  const hasToRun = promote !== 'no' && running !== deployment.newest_version;
  if (hasToRun || uploads.length > 0) return undefined;
  const own = ownHeaders(version.content.servers);
  const registered = servers.flatMap((server) =>
    server.registered && isSettled(server, own) ? [server.registered] : [],
  );
  if (registered.length < servers.length) return undefined;
  const { orgId } = caller;
  const written = fileToManifest(file, registered);
  const wanted = { ...written, manifest: await fixFiles(tx, caller, written.manifest, version.manifest) };
  if (changedFileKeys(savedOf(version), wanted).length > 0) return undefined;
  if (await hasOtherHeaders(tx, orgId, version)) return undefined;
  if ((await changedContent(tx, { orgId, before: version, manifest: wanted.manifest })).length > 0) {
    return undefined;
  }
  const testRun = promote === 'after_tests' ? await latestRun(tx, version) : null;
  if (testRun && ['error', 'cancelled'].includes(testRun.status)) return undefined;
  const isOpen = testRun !== null && testRun.status !== 'passed';
  const promoted = promote !== 'no' && !isOpen;
  const promotion = { deployment, promoted, becameDefault: false, testRun: isOpen ? testRun : null, made: [] };
  const shown = await presentPromotion(tx, { promotion, version });
  return { ...shown, changed: [], created: false, warnings: fileWarnings(checked, dependencies) };
}

/** Returns null if there are no scenarios or no run yet. */
async function latestRun(tx: Transaction, row: VersionRow): Promise<TestRun | null> {
  const { org_id, deployment_id, version } = row;
  if (!(await hasScenarios(tx, deployment_id, row.file_objects.tests))) return null;
  const latest = (await latestRuns(tx, deployment_id, [version])).get(version);
  return (latest && (await findTestRun(tx, org_id, latest.run_id))) ?? null;
}

async function writeFile(
  tx: Transaction,
  dependencies: ApplyDependencies,
  application: Application,
  read: ReadFile,
): Promise<Answer> {
  const { caller, origin, reference } = application;
  const found = await findApplied(tx, caller.orgId, reference);
  const before = found ? await lockDeployment(tx, caller.orgId, found.id) : null;
  const newest = before && (await newestVersion(tx, before));
  const applied = before && newest ? { deployment: before, version: newest } : null;
  const checked = await checkFile(tx, { caller, read, newest: applied, hold: true });
  const { file, servers: planned } = checked;
  if (before) assertActive(before);
  await assertSigningSecrets(tx, dependencies, caller, file);
  const own = ownHeaders(newest?.content.servers);
  const placed = await placeServers(tx, { caller, origin, deployment: before, own, planned });
  const written = fileToManifest(file, placed.servers);
  const saved = { ...written, manifest: await fixFiles(tx, caller, written.manifest, newest?.manifest ?? null) };
  const { orgId } = caller;
  const { manifest } = saved;
  const ofContent = await changedContent(tx, { orgId, before: newest, manifest });
  const isAccessChanged = placed.changed || !isDeepStrictEqual(ownHeaders(placed.known), own);
  const changed = withChanges(changedFileKeys(newest && savedOf(newest), saved), [
    ...(isAccessChanged || (newest && (await hasOtherHeaders(tx, orgId, newest))) ? (['tools'] as const) : []),
    ...ofContent,
    ...(application.uploads ?? []),
  ]);
  if (before && newest && changed.length === 0) {
    const current = { checked, deployment: before, version: newest, made: [], isNew: false };
    return answer(tx, dependencies, application, { ...current, changed, created: false });
  }
  assertExpected(application, before);
  const content = {
    ...saved,
    content: await fixContent(tx, orgId, manifest, placed.known),
    changed: changedOfVersion(newest, saved, { changed, ofContent }),
    note: null,
  };
  const createdBy = authorOf(caller.actor);
  const place = { orgId: caller.orgId, name: file.name, slug: file.name, description: '' };
  const inserted = before
    ? await saveVersion(tx, { deployment: before, ...content, createdBy })
    : await insertDeployment(tx, place, { ...content, createdBy });
  // A deployment of this name was created over the API meanwhile, so the file is its next version.
  if (!inserted) return writeFile(tx, dependencies, application, read);
  const { deployment, version } = inserted;
  await replaceFileScenarios(tx, { deployment, declared: file.tests.map(scenarioOfTest) });
  const made = await activateFileObjects(tx, dependencies, { deployment, mode: 'test', version });
  await recordAudit(tx, origin, {
    action: before ? 'deployment.applied' : 'deployment.created',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, version: version.version, changed },
  });
  return answer(tx, dependencies, application, {
    checked,
    deployment,
    version,
    made,
    isNew: true,
    changed,
    created: !before,
  });
}

/** A shorter secret could be guessed from a few deliveries, and libraries of receivers refuse it. */
async function assertSigningSecrets(
  tx: Transaction,
  { vault }: Pick<ApplyDependencies, 'vault'>,
  tenant: Tenant,
  { webhooks }: DeploymentFile,
): Promise<void> {
  for (const [at, { secret }] of webhooks.entries()) {
    const [name] = secretsIn(secret ?? '').company;
    if (name === undefined) continue;
    const value = (await readSecrets(tx, vault, tenant, null, [name])).get(name);
    if (value === undefined || isSigningSecret(value)) continue;
    throw fail('invalid_manifest', {
      param: `webhooks.${at}.secret`,
      message: `The secret ${name} cannot sign deliveries: store \`whsec_\` and 24 to 64 random bytes in base64.`,
    });
  }
}

type Written = {
  checked: CheckedFile;
  deployment: DeploymentRow;
  version: VersionRow;
  made: CreatedEndpoint[];
  isNew: boolean;
  changed: FileKey[];
  created: boolean;
};

async function answer(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, promote }: Application,
  { checked, deployment, version, made, isNew, changed, created }: Written,
): Promise<Answer> {
  const request = { origin, deployment, version, isNew, keepsRedRun: !isNew };
  const promotion = await (promote === 'no'
    ? saveWithoutPromotion(tx, dependencies, request)
    : promote === 'now'
      ? promoteNow(tx, dependencies, request)
      : promoteAfterTestsPass(tx, dependencies, request));
  const shown = await presentPromotion(tx, { promotion, version });
  const secrets = [...made, ...shown.webhook_secrets];
  return { ...shown, webhook_secrets: secrets, changed, created, warnings: fileWarnings(checked, dependencies) };
}

/** Adds changes outside of the file: renamed servers, other headers, and changed documents and skills. */
const withChanges = (changed: readonly FileKey[], beyond: readonly FileKey[]): FileKey[] =>
  fileKeys.filter((key) => changed.includes(key) || beyond.includes(key));

/** Keys that changed in the version: of its manifest and content, then of the objects in the file. */
function changedOfVersion(
  before: VersionRow | null,
  { manifest }: VersionContent,
  { changed, ofContent }: { changed: readonly FileKey[]; ofContent: readonly FileKey[] },
): string[] {
  const ofManifest = changedKeys(before?.manifest ?? null, manifest);
  const ofServers = changed.includes('tools') && !ofManifest.some((key) => /^(tools|mcp_.*)$/.test(key));
  const beside = (['routines', 'tests', 'webhooks'] as const).filter((key) => changed.includes(key));
  return [...new Set([...ofManifest, ...(ofServers ? ['mcp_servers'] : []), ...ofContent, ...beside])];
}
