export { assertNotLive } from './assert-not-live.ts';
export { authorOf } from './author.ts';
export { becomeDefault } from './become-default.ts';
export { type ChangeLive, changeLiveVersions } from './change-live.ts';
export { type FixedContent, noContent } from './content.ts';
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
  type GivenManifest,
  type Manifest,
  repoNamed,
  withoutRepeats,
} from './manifest.ts';
export { moveDraft } from './move-draft.ts';
export { popLive } from './pop-live.ts';
export { presentDeployment, presentVersion, type VersionTests } from './present.ts';
export { pushLive } from './push-live.ts';
export type { DeploymentDependencies } from './routes.ts';
export { saveVersion } from './save-version.ts';
export { deploymentIsStill, forgetDeployment, type RunnableDeployment, seeDeployment } from './see.ts';
export { slugFromName } from './slug.ts';
export {
  deploymentsUsing,
  findDeploymentOfAnyOrg,
  fixedRevisions,
  getVersion,
  insertDeployment,
  liveVersionsUsing,
  lockVersions,
  markMissing,
  newestVersion,
} from './store.ts';
export type { DeploymentRow, VersionRow } from './tables.ts';
export { versionToRun } from './version-pointers.ts';
