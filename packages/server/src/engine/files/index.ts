export { removeUnusedContent } from './content.ts';
export { createDownloadLinks } from './downloads.ts';
export {
  filesExist,
  findFiles,
  isContentUsed,
  markContentUnused,
  storedBytesStatement,
  unmarkContent,
  usedContents,
} from './store.ts';
