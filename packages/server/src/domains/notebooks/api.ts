export { fuseRanks } from './fuse-ranks.ts';
export { indexedText } from './indexed-text.ts';
export { createPassageMeaning, type PassageMeaning } from './passage-meaning.ts';
export { pruneContent } from './prune-content.ts';
export { documentTitles, readableNotebooks, readDocument } from './read.ts';
export { holdRevisions, isAnyChanged } from './revisions.ts';
export { searchNotebooks } from './search.ts';
export { notebooksExist } from './store.ts';
export { packVectors, similarities } from './vectors.ts';
