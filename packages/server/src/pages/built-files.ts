import { join } from 'node:path';
import { readBuilt } from './built-pages.ts';
import { type KeptContent, keepContent } from './kept-content.ts';

/** The files of a built page by name; null for any other name. */
export function builtFiles(folder: string): (name: string) => Promise<KeptContent | null> {
  const kept = new Map<string, Promise<KeptContent | null>>();

  /** Read once: a file that was built anew has another name. */
  return async (name) => {
    const mediaType = mediaTypes[/\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''];
    if (!mediaType || !/^[\w-][\w.-]*$/.test(name)) return null;
    const known = kept.get(name);
    if (known) return known;
    const read = keepBuilt(join(folder, name), mediaType);
    // A name that is not there must not be kept: whoever asks for many would fill the memory.
    if ((await read) !== null) kept.set(name, read);
    return read;
  };
}

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

async function keepBuilt(path: string, mediaType: string): Promise<KeptContent | null> {
  const bytes = await readBuilt(path).catch(() => null);
  return bytes && keepContent(bytes, mediaType);
}
