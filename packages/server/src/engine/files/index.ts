export { createDownloadLinks, removeUnusedContent } from './content.ts';
export {
  copyableFiles,
  findFiles,
  isContentUsed,
  markContentUnused,
  storedBytesStatement,
  unmarkContent,
  usedContents,
} from './store.ts';
