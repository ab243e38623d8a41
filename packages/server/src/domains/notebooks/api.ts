export { indexedText } from './indexed-text.ts';
export { createPassageMeaning, type PassageMeaning } from './passage-meaning.ts';
export { documentTitles, readableNotebooks, readDocument } from './reader-store.ts';
export { pruneContent } from './revisions.ts';
export { holdRevisions, isAnyChanged } from './revisions-store.ts';
export { searchNotebooks } from './search.ts';
export { notebooksExist } from './store.ts';
export { packVectors, similarities } from './vectors.ts';
