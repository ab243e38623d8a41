export type { CheckManifest } from './create.ts';
export { findDeployment, holdDeployment, lockDeployment, requireDeployment, resolveDeployment } from './find.ts';
export { presentDeployment, presentVersion, type VersionTests } from './present.ts';
export type { DeploymentDependencies } from './routes.ts';
export { deploymentIsStill, forgetDeployment, type RunnableDeployment, seeDeployment } from './seen-store.ts';
export { slugFromName } from './slug.ts';
export {
  deploymentNames,
  deploymentsUsing,
  findDeploymentOfAnyOrg,
  getVersion,
  insertDeployment,
  listDeployments,
  lockVersions,
  modelsInUse,
  newestVersion,
} from './store.ts';
export type { DeploymentRow, VersionRow } from './tables.ts';
