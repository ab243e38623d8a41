export { removeUnusedContent } from './content.ts';
export { createDownloadLinks } from './downloads.ts';
export {
  copyableFiles,
  findFiles,
  markContentUnused,
  storedBytesStatement,
  unmarkContent,
  usedContents,
} from './store.ts';
