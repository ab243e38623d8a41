export { createDownloadLinks } from './download-link.ts';
export { dropContent, dropNoted, fileEraser, pruneOfTools, pruneUnused } from './drop.ts';
export { keepFile, storeContent } from './keep.ts';
export { presentFile } from './present.ts';
export {
  deleteOutputsOf,
  filesExist,
  findFiles,
  forgetUnused,
  noteUnused,
  outputsOf,
  readingStoredBytes,
  usedContents,
} from './store.ts';
export type { FileRow } from './tables.ts';
