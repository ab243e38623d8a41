export { createDownloadLinks } from './download-link.ts';
export { fileEraser } from './erase.ts';
export { filesExist } from './store.ts';
