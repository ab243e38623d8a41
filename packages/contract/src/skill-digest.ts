/** A file of a skill. Text stands for its UTF-8 bytes. */
type DigestedFile = { path: string; content: string | Uint8Array };

const encoder = new TextEncoder();
const nul = Uint8Array.of(0);

/**
 * The `sha256` of a skill: over its files sorted by path, each as path, NUL, byte length, NUL, bytes. The server
 * computes it for the upload and a client for a folder. If they are equal, nothing needs uploading.
 */
export async function skillDigest(files: readonly DigestedFile[]): Promise<string> {
  const parts = files
    .map(({ path, content }) => ({ path: encoder.encode(skillPath(path)), bytes: bytesOf(content) }))
    .sort((a, b) => compareBytes(a.path, b.path))
    .flatMap(({ path, bytes }) => [path, nul, encoder.encode(String(bytes.length)), nul, bytes]);
  const hash = await crypto.subtle.digest('SHA-256', joined(parts));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Some systems encode `é` in a file name as one character and others as two: it is the same name. */
export const skillPath = (path: string): string => path.normalize('NFC');

/** Files that macOS adds to folders and zips. They are not part of a skill, so client and server skip them. */
export function isSystemFile(path: string): boolean {
  const names = path.split('/');
  return names.includes('__MACOSX') || names.at(-1) === '.DS_Store';
}

const bytesOf = (content: string | Uint8Array) => (typeof content === 'string' ? encoder.encode(content) : content);

/** JavaScript compares UTF-16 units, which sorts an emoji before `ﬀ`. Bytes sort the same in every language. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    if (a[at] !== b[at]) return (a[at] as number) - (b[at] as number);
  }
  return a.length - b.length;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
