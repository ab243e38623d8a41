/** Bytes of UTF-8 in one document, and of all documents in a notebook. */
export const maxDocumentBytes = 512 * 1024;
export const maxNotebookBytes = 5 * 1024 * 1024;
export const maxDocuments = 1000;
