export { type IndexState, indexStateOf } from './document-index.ts';
export { prepareDocument } from './notebook-documents.ts';
export { createPassageMeaning } from './passage-meaning.ts';
export {
  branchRevision,
  changedDocuments,
  documentTexts,
  holdRevisions,
  isAnyChanged,
  revisionsToSearch,
} from './revisions.ts';
export { searchNotebooks } from './search.ts';
export { indexedText, isCommonWord } from './search-words.ts';
export {
  documentTitles,
  findByName,
  type NotebookReader,
  notebooksExist,
  readableDocuments,
  readableNotebooks,
  readDocument,
  readPassage,
} from './store.ts';
export { compareWith } from './vector-comparison.ts';
export { forgetUncomparable, packVectors, prepareVectorTable } from './vectors.ts';
