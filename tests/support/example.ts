import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { TestServer } from './server.ts';

export const examplesFolder = join(import.meta.dirname, '../../examples');

type File = Record<string, unknown> & { name: string; skills?: unknown; knowledge?: unknown };

/**
 * A deployment file with its local folders uploaded and replaced by ids, as a client with access to the
 * disk does before it applies the file.
 */
export async function resolveExample(server: TestServer, name: string): Promise<File> {
  const folder = join(examplesFolder, name);
  const file = parse(readFileSync(join(folder, 'service.yaml'), 'utf8')) as File;
  const skills = await Promise.all(listOf(file.skills).map((entry) => resolveSkill(server, folder, entry)));
  const knowledge = await Promise.all(
    listOf(file.knowledge).map((entry) => resolveKnowledge(server, folder, entry, name)),
  );
  return { ...file, ...(file.skills !== undefined && { skills }), ...(file.knowledge !== undefined && { knowledge }) };
}

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

async function resolveSkill(server: TestServer, folder: string, entry: unknown): Promise<unknown> {
  if (typeof entry !== 'string') return entry;
  const root = join(folder, entry);
  const files = filesIn(root).map((path) => ({ path, content: readFileSync(join(root, path), 'utf8') }));
  const made = await server.call('POST', '/v1/skills', { body: { files } });
  if (made.status !== 201) throw new Error(made.text);
  return { id: made.body.id };
}

async function resolveKnowledge(server: TestServer, folder: string, entry: unknown, name: string): Promise<unknown> {
  if (typeof entry !== 'string') return entry;
  const root = join(folder, entry);
  const notebook = await server.call('POST', '/v1/notebooks', {
    body: { name, slug: name.slice(0, 40), description: `What ${name} knows.` },
  });
  if (notebook.status !== 201) throw new Error(notebook.text);
  for (const path of filesIn(root)) {
    const text = readFileSync(join(root, path), 'utf8');
    const made = await server.call('POST', `/v1/notebooks/${notebook.body.id}/documents`, {
      body: { title: basename(path), text },
    });
    if (made.status !== 201) throw new Error(made.text);
  }
  return { notebook: notebook.body.id };
}

const filesIn = (root: string) =>
  globSync('**/*', { cwd: root })
    .filter((path) => statSync(join(root, path)).isFile())
    .sort();
