export { type Reader, readableNotebooks, readDocument } from './read.ts';
export { type Hit, searchNotebooks } from './search.ts';
export { notebooksExist } from './store.ts';
