export { assertNotLive, assertNotReliedOn, type ChangeLive, changeLiveVersions } from './change-live.ts';
export type { CheckManifest } from './create.ts';
export {
  findDeployment,
  holdDeployment,
  lockDeployment,
  requireDeployment,
  resolveDeployment,
} from './find.ts';
export {
  changedKeys,
  defaultManifest,
  type FileObjects,
  type FixedContent,
  type GivenManifest,
  inHome,
  type Manifest,
  noContent,
  repoFolders,
  repoNamed,
  withoutRepeats,
} from './manifest.ts';
export { presentDeployment, presentVersion, type VersionTests } from './present.ts';
export type { DeploymentDependencies } from './routes.ts';
export { deploymentIsStill, forgetDeployment, type RunnableDeployment, seeDeployment } from './seen-store.ts';
export { slugFromName } from './slug.ts';
export {
  deploymentNames,
  deploymentsUsing,
  findDeploymentOfAnyOrg,
  fixedRevisions,
  getVersion,
  insertDeployment,
  listDeployments,
  liveVersionsUsing,
  lockVersions,
  markMissing,
  modelsInUse,
  newestVersion,
} from './store.ts';
export type { DeploymentRow, VersionRow } from './tables.ts';
export { manifestOf, versionOf } from './version-cache.ts';
export { versionToRun } from './version-pointers.ts';
export { authorOf, becomeDefault, moveDraft, popLive, pushLive, saveVersion } from './versions.ts';
