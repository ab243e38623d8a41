export { readableNotebooks, readDocument } from './read.ts';
export { searchNotebooks } from './search.ts';
export { notebooksExist } from './store.ts';
