/** A plain name that is safe for downloads and folders. Direction characters could disguise a program as a document. */
export function isPlainFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  if (/[/\\\p{Cc}\u202A-\u202E\u2066-\u2069]/u.test(name)) return false;
  return new TextEncoder().encode(name).byteLength <= 255;
}
