export { type IndexState, indexStateOf } from './document-index.ts';
export { createPassageMeaning } from './passage-meaning.ts';
export { changedDocuments, documentTexts, holdRevisions, isAnyChanged } from './revisions.ts';
export { searchNotebooks } from './search.ts';
export { indexedText, isCommonWord } from './search-words.ts';
export {
  documentTitles,
  findByName,
  type NotebookReader,
  notebooksExist,
  readableNotebooks,
  readDocument,
} from './store.ts';
export { forgetUncomparable, packVectors, prepareVectorTable, similarities } from './vectors.ts';
