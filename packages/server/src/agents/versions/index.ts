export { type ChangeLive, changeLiveVersions } from './change-live.ts';
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
export { manifestOf, versionOf } from './version-cache.ts';
export { versionToRun } from './version-pointers.ts';
export { authorOf, becomeDefault, moveDraft, popLive, pushLive, saveVersion } from './versions.ts';
