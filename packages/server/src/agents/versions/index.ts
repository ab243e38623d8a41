export {
  changedKeys,
  defaultManifest,
  type FileObjects,
  type FixedContent,
  type FixedServers,
  type GivenManifest,
  inHome,
  type Manifest,
  noContent,
  repoFolders,
  repoNamed,
  withoutRepeats,
} from './manifest.ts';
export { fixedContents, isContentFixed, manifestOf, recoverableWebhooks, versionOf, versionOfRow } from './store.ts';
export { versionToRun } from './version-pointers.ts';
export {
  authorOf,
  becomeDefault,
  moveDraft,
  popLive,
  pushLive,
  type RepublishLive,
  republishLiveVersions,
  saveProposedVersion,
  saveVersion,
} from './versions.ts';
