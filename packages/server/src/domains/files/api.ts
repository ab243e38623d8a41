export { createDownloadLinks } from './download-link.ts';
export { fileEraser } from './erase.ts';
export { dropContent, keepFile } from './keep.ts';
export { presentFile } from './present.ts';
export { pruneOfTools } from './prune.ts';
export { deleteOutputsOf, filesExist, findFiles, outputsOf, usedContents } from './store.ts';
export type { FileRow } from './tables.ts';
