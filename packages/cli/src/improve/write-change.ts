import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readServiceFile } from '@vestra/sdk/apply/service-file';
import { editServiceFile, type TextEdit } from './edit-service-file.ts';

type DocumentChange = { notebook: string; title: string; before: string | null; after: string };
export type FolderChange = {
  instructions: { before: string; after: string } | null;
  tools: readonly { function: string; before: string; after: string }[];
  documents: readonly DocumentChange[];
};

/** Files that were written, parts that the folder has already, and parts that a person has to write. */
export type WriteReport = { written: string[]; there: string[]; left: { name: string; reason: string }[] };

/** Writes a proposed change into the folder of a deployment. A second call finds the change there and writes nothing. */
export async function writeChange(
  { folder, file = 'service.yaml' }: { folder: string; file?: string | undefined },
  change: FolderChange,
): Promise<WriteReport> {
  const report: WriteReport = { written: [], there: [], left: [] };
  const path = join(folder, file);
  const edits: TextEdit[] = [
    ...(change.instructions ? [{ path: 'instructions' as const, ...change.instructions }] : []),
    ...change.tools.map(({ function: name, before, after }) => ({ path: `tools.${name}` as const, before, after })),
  ];
  const edited = editServiceFile(await readFile(path, 'utf8'), edits);
  if (edited.written.length > 0) {
    await writeFile(path, edited.text);
    report.written.push(file);
  }
  report.there.push(...edited.there.map((edit) => edit.path));
  report.left.push(...edited.changed.map((edit) => ({ name: edit.path, reason: 'it has another text here' })));
  const { content } = await readServiceFile({ folder, file });
  for (const document of change.documents) await writeDocument(folder, content, document, report);
  return report;
}

async function writeDocument(
  folder: string,
  { name, knowledge }: { name: string; knowledge?: unknown },
  { notebook, title, before, after }: DocumentChange,
  report: WriteReport,
): Promise<void> {
  const place = placeOf({ name, knowledge, notebook, title });
  if (place === null) {
    report.left.push({ name: title, reason: `it is in the notebook ${notebook}, which no folder here fills` });
    return;
  }
  const now = await readFile(join(folder, place), 'utf8').catch(() => null);
  if (now === after) report.there.push(place);
  else if (now !== before) report.left.push({ name: place, reason: 'it has another text here' });
  else {
    await writeFile(join(folder, place), after);
    report.written.push(place);
  }
}

const converted = /\.(?:pdf|docx|xlsx|pptx|html?|xhtml)$/i;

/** The file of a document, by the names that `vestra apply` gives to notebooks and documents. Null: not a text file here. */
function placeOf({
  name,
  knowledge,
  notebook,
  title,
}: {
  name: string;
  knowledge?: unknown;
  notebook: string;
  title: string;
}): string | null {
  if (converted.test(title) || title.split('/').includes('..') || title.startsWith('/')) return null;
  const paths = (Array.isArray(knowledge) ? knowledge : [knowledge]).filter((each) => typeof each === 'string');
  const path = paths
    .map((each: string) => each.replace(/^\.\//, '').replace(/\/+$/, ''))
    .find((each: string) => [...`${name}: ${each}`].slice(0, 80).join('') === notebook);
  if (path === undefined) return null;
  return basename(path) === title ? path : `${path}/${title}`;
}
