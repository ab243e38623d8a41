export {
  deploymentsOfCustomerMemory,
  deploymentsRelyingOn,
  deploymentsUsing,
  getVersion,
  lockVersions,
  modelsInUse,
  newestVersion,
} from '../versions/store.ts';
export type { VersionRow } from '../versions/tables.ts';
export {
  type CheckManifest,
  presentDeployment,
  presentVersion,
  slugFromName,
  type VersionTests,
} from './deployment.ts';
export {
  findDeployment,
  holdDeployment,
  lockDeployment,
  noSuchDeployment,
  requireDeployment,
  resolveDeployment,
} from './deployment-reference.ts';
export type { DeploymentDependencies } from './routes.ts';
export {
  deploymentIsStill,
  deploymentNames,
  findDeploymentOfAnyOrg,
  forgetDeployment,
  insertDeployment,
  listDeployments,
  type RunnableDeployment,
  seeDeployment,
  statusOfDeployment,
} from './store.ts';
export type { DeploymentRow } from './tables.ts';
