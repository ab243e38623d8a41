import { readFile, stat } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { refuse } from '../fault.ts';

const largest = 20 * 1024 * 1024;

/** Reads an exported file. Every fault is one sentence that names the file as it was typed. */
export async function readExport(path: string, shown: string, format: 'json' | 'yaml'): Promise<unknown> {
  const found = await stat(path).catch(() => null);
  if (!found) throw refuse(`There is no file ${shown}.`);
  if (found.isDirectory()) throw refuse(`${shown} is a folder: name the exported file.`);
  if (found.size > largest) throw refuse(`${shown} has more than 20 MB, which no export has.`);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw refuse(`${shown} cannot be read (${error.code}).`);
  });
  const text = decoded(bytes, shown);
  if (text.trim() === '') throw refuse(`${shown} is empty.`);
  return format === 'json' ? parsedJson(text, shown) : parsedYaml(text, shown);
}

function decoded(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse(`${shown} is not text in UTF-8.`);
  }
}

/** The parser's message would quote the file, which may contain a credential. */
function parsedJson(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    const line = at === undefined ? '' : ` (line ${text.slice(0, Number(at)).split('\n').length})`;
    throw refuse(`${shown} is not valid JSON${line}.`);
  }
}

function parsedYaml(text: string, shown: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false, logLevel: 'silent' });
  const [fault] = document.errors;
  if (fault) throw refuse(`${shown} is not valid YAML (line ${lines.linePos(fault.pos[0]).line}).`);
  try {
    return document.toJS();
  } catch {
    throw refuse(`${shown} is not valid YAML: its aliases cannot be followed.`);
  }
}
