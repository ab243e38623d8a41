/** A file of a skill; text stands for its bytes in UTF-8. */
type DigestedFile = { path: string; content: string | Uint8Array };

const encoder = new TextEncoder();
const nul = Uint8Array.of(0);

/**
 * The `sha256` of a skill: over its files sorted by path, each as path, NUL, byte length, NUL, bytes. The server
 * computes it over what was uploaded and a client over a folder; where the two are equal there is nothing to upload.
 */
export async function skillDigest(files: readonly DigestedFile[]): Promise<string> {
  const parts = files
    .map(({ path, content }) => ({ path: encoder.encode(skillPath(path)), bytes: bytesOf(content) }))
    .sort((a, b) => compareBytes(a.path, b.path))
    .flatMap(({ path, bytes }) => [path, nul, encoder.encode(String(bytes.length)), nul, bytes]);
  const hash = await crypto.subtle.digest('SHA-256', joined(parts));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Some systems write `é` in a file name as one character and others as two: the name is one and the same. */
export const skillPath = (path: string): string => path.normalize('NFC');

/** What macOS leaves in folders and zips; it is no part of a skill, so a client skips it as the server does. */
export function isSystemFile(path: string): boolean {
  const names = path.split('/');
  return names.includes('__MACOSX') || names.at(-1) === '.DS_Store';
}

const bytesOf = (content: string | Uint8Array) => (typeof content === 'string' ? encoder.encode(content) : content);

/** JavaScript compares text by UTF-16 units, which puts an emoji before `ﬀ`; bytes are the same in every language. */
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
