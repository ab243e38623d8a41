import { extname } from 'node:path';

/** Kinds of text look alike, so their name decides; whatever else a name says, the bytes decide. */
const textTypes: Record<string, string> = {
  '.csv': 'text/csv',
  '.css': 'text/css',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.svg': 'image/svg+xml',
  '.tsv': 'text/tab-separated-values',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

/** What the bytes are, whatever the sender called them. */
export async function mediaTypeOf(bytes: Uint8Array, filename: string): Promise<string> {
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(bytes);
  if (found) return found.mime;
  if (!isText(bytes)) return 'application/octet-stream';
  return textTypes[extname(filename).toLowerCase()] ?? 'text/plain';
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
