export { createDownloadLinks } from './download-link.ts';
export { dropNoted } from './drop.ts';
export { filesExist, findFiles, forgetUnused, noteUnused, readingStoredBytes, usedContents } from './store.ts';
