export { type Hit, type Reader, searchNotebooks } from './search.ts';
