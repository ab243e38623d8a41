import { createHash } from 'node:crypto';
import { maxDocumentBytes, maxDocuments, maxNotebookBytes } from '@vestra/contract/document-limits';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import { pages } from '../pages.ts';
import { type ApplyStep, type Change, entriesOf, type Resolved } from './change.ts';
import { type Folder, taken, textOf } from './local-files.ts';
import { ownSlug } from './own-slug.ts';
import { ApplyError, type Problem, problemOf } from './problem.ts';
import { uploading } from './refused.ts';
import type { ServiceFile } from './service-file.ts';

/** `file` if only the service can extract the text: a PDF, Office or HTML file. */
type LocalDocument = { path: string; title: string } & (ReadText | { file: File });

/** A text of another type than `text/plain` is uploaded as a file of that type. */
type ReadText = { text: string; sha256: string; contentType: string };

type TextDocument = { path: string; title: string } & ReadText;

type LocalNotebook = { path: string; slug: string; name: string; description: string; documents: LocalDocument[] };

type Entry = { at: string } & ({ value: unknown } | { notebook: LocalNotebook });

/** A file that cannot become a document. */
export type Skipped = { path: string; reason: string };

export async function readKnowledge(
  service: ServiceFile,
  folder: Folder,
  problems: Problem[],
): Promise<{ entries: Entry[]; skipped: Skipped[] }> {
  const entries: Entry[] = [];
  const skipped: Skipped[] = [];
  for (const { at, value } of entriesOf(service.content.knowledge, 'knowledge')) {
    if (typeof value !== 'string') {
      entries.push({ at, value });
      continue;
    }
    const problem = (message: string) => service.problemAt(at, message);
    const found = taken(await folder.find(value), problems, problem);
    if (!found) continue;
    const listed =
      found.kind === 'file'
        ? [{ path: found.shown.split('/').at(-1) as string, shown: found.shown, real: found.path }]
        : (taken(await folder.list(found), problems, problem) ?? []).map((each) => ({
            ...each,
            shown: `${found.shown}/${each.path}`,
          }));
    const documents: LocalDocument[] = [];
    for (const { path, shown, real } of listed) {
      const bytes = taken(await folder.read(real, shown), problems, (message) => problemOf(shown, message));
      if (!bytes) continue;
      const read = documentOf({ path, shown, bytes });
      if ('title' in read) documents.push(read);
      else if (found.kind === 'file') problems.push(problem(`\`${shown}\` ${read.reason}`));
      else skipped.push(read);
    }
    const twin = documents.find(({ title }, index) => documents.findIndex((other) => other.title === title) < index);
    if (twin) problems.push(problemOf(twin.path, `Another file has a document of the title \`${twin.title}\` too.`));
    entries.push({ at, notebook: notebookOf(service.content.name, found.shown, documents) });
  }
  const notebooks = entries.flatMap((entry) => ('notebook' in entry ? [{ at: entry.at, ...entry.notebook }] : []));
  for (const [index, { at, path, slug }] of notebooks.entries()) {
    if (notebooks.findIndex((other) => other.slug === slug) < index) {
      problems.push(service.problemAt(at, `\`${path}\` is named twice.`));
    }
  }
  return { entries, skipped };
}

/** The number of files that the service converts at once. */
const conversions = 3;

/**
 * Converts all files before the first document is written, and reports all that cannot be read. So a failed apply
 * leaves no notebook half changed.
 */
export async function convertDocuments(
  client: Client,
  entries: readonly Entry[],
  problems: Problem[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const notebooks = entries.flatMap((entry) => ('notebook' in entry ? [entry.notebook] : []));
  const waiting = notebooks.flatMap(({ documents }) => documents.map((document, at) => ({ documents, document, at })));
  const convert = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { documents, document, at } = next;
      if (!('file' in document)) continue;
      documents[at] = await converted(client, document, problems, signal);
    }
  };
  await Promise.all(Array.from({ length: conversions }, convert));
  for (const { path, documents } of notebooks) problems.push(...sizeProblems(path, documents));
}

async function converted(
  client: Client,
  { path, title, file }: Extract<LocalDocument, { file: File }>,
  problems: Problem[],
  signal: AbortSignal | undefined,
): Promise<LocalDocument> {
  try {
    const made = await uploading(path, () => client.notebooks.convertDocument({ file }, { signal }));
    return { path, title, text: made.text, sha256: made.sha256, contentType: made.content_type };
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error;
    problems.push(...error.problems);
    return { path, title, file };
  }
}

/** A notebook of the folder ends with exactly these documents, so its limits are known before the first upload. */
function sizeProblems(path: string, documents: readonly LocalDocument[]): Problem[] {
  const sized = documents.map((each) => ({
    path: each.path,
    bytes: 'text' in each ? new TextEncoder().encode(each.text).byteLength : 0,
  }));
  const total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...sized
      .filter(({ bytes }) => bytes > maxDocumentBytes)
      .map((each) => ({
        ...problemOf(each.path, `The text has ${each.bytes} bytes. A document has at most ${maxDocumentBytes}.`),
        code: 'document_too_large',
      })),
    ...(documents.length > maxDocuments
      ? [problemOf(path, `The folder has ${documents.length} documents. A notebook has at most ${maxDocuments}.`)]
      : []),
    ...(total > maxNotebookBytes
      ? [problemOf(path, `The documents have ${total} bytes of text. A notebook has at most ${maxNotebookBytes}.`)]
      : []),
  ];
}

/** Compares the documents of the folder with those of their notebooks. Call it after all are converted. */
export async function planKnowledge(
  client: Client,
  entries: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<{ steps: ApplyStep[]; resolved: Resolved; notebookIds: () => string[] }> {
  const local = entries.flatMap((entry) => ('notebook' in entry ? [entry.notebook] : []));
  const kept = local.length > 0 ? await notebooksOf(client, signal) : new Map<string, string>();
  const ids = new Map<string, string>();
  const steps: ApplyStep[] = [];
  for (const notebook of local) {
    const { slug, path } = notebook;
    const id = kept.get(slug);
    if (id === undefined) steps.push(creation(client, notebook, (made) => ids.set(slug, made)));
    else ids.set(slug, id);
    const there = id === undefined ? new Map<string, KeptDocument[]>() : await documentsOf(client, id, signal);
    const place: Place = { client, slug, path, id: () => ids.get(slug) as string };
    // Deletions come first, because the space may be needed.
    const titles = new Set(notebook.documents.map(({ title }) => title));
    const gone = [...there].filter(([title]) => !titles.has(title)).flatMap(([, documents]) => documents);
    steps.push(...gone.map((document) => removal(place, document)));
    const texts = notebook.documents.filter((document) => 'text' in document);
    steps.push(...texts.flatMap((document) => stepsOf(place, document, there.get(document.title) ?? [])));
  }
  const resolve = () =>
    entries.map((entry) => ('notebook' in entry ? { notebook: ids.get(entry.notebook.slug) } : entry.value));
  const resolved = { entries: resolve, sources: entries.map(({ at }) => at) };
  return { steps, resolved, notebookIds: () => [...ids.values()] };
}

/** Counts the indexed documents. */
export async function indexOf(
  client: Client,
  notebookIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ indexed: number; total: number }> {
  const state = { indexed: 0, total: 0 };
  for (const notebook_id of notebookIds) {
    for await (const { indexed } of pages(client.notebooks.listDocuments, { notebook_id, limit: 100 }, { signal })) {
      state.total += 1;
      if (indexed) state.indexed += 1;
    }
  }
  return state;
}

/** Live users see it only after the file has been applied and promoted. */
const later = { promote: 'no' } as const;

type KeptDocument = { id: string; title: string; sha256: string };
type Place = { client: Client; slug: string; path: string; id: () => string };

function stepsOf(place: Place, document: TextDocument, there: readonly KeptDocument[]): ApplyStep[] {
  const same = there.find(({ sha256 }) => sha256 === document.sha256);
  if (!same) return [upload(place, document, there)];
  return there.filter(({ id }) => id !== same.id).map((other) => removal(place, other));
}

function creation(
  client: Client,
  { slug, path, name, description }: LocalNotebook,
  made: (id: string) => void,
): ApplyStep {
  const change: Change = { kind: 'notebook', action: 'created', path, name: slug };
  return {
    change,
    async run(signal) {
      const fields = { slug, name, description };
      made((await uploading(path, () => client.notebooks.create(fields, { signal }))).id);
    },
  };
}

function removal({ client, slug, id }: Place, document: KeptDocument): ApplyStep {
  const change: Change = { kind: 'document', action: 'deleted', path: null, name: document.title, notebook: slug };
  return {
    change,
    async run(signal) {
      await remove(client, id(), document, signal);
    },
  };
}

function upload({ client, slug, id }: Place, document: TextDocument, there: readonly KeptDocument[]): ApplyStep {
  const { path, title, text, contentType } = document;
  const action = there.length === 0 ? 'created' : 'replaced';
  return {
    change: { kind: 'document', path, name: title, notebook: slug, action },
    async run(signal) {
      const notebook_id = id();
      const fields =
        contentType === 'text/plain'
          ? { notebook_id, title, text }
          : { notebook_id, file: new File([text], title, { type: contentType }) };
      // A replacement removes every document of the title in one step, so that agents never miss it or read both.
      const replace = there.length > 0 && { replace: true };
      await uploading(path, () => client.notebooks.createDocument({ ...fields, ...replace, ...later }, { signal }));
    },
  };
}

/** An already deleted document is fine. */
async function remove(client: Client, notebook_id: string, { id }: { id: string }, signal: AbortSignal | undefined) {
  try {
    await client.notebooks.deleteDocument({ notebook_id, document_id: id, ...later }, { signal });
  } catch (error) {
    if (!(error instanceof VestraError) || error.code !== 'document_not_found') throw error;
  }
}

async function notebooksOf(client: Client, signal: AbortSignal | undefined): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { slug, id } of pages(client.notebooks.list, { limit: 100 }, { signal })) found.set(slug, id);
  return found;
}

async function documentsOf(client: Client, notebook_id: string, signal: AbortSignal | undefined) {
  const found = new Map<string, KeptDocument[]>();
  for await (const each of pages(client.notebooks.listDocuments, { notebook_id, limit: 100 }, { signal })) {
    found.set(each.title, [...(found.get(each.title) ?? []), each]);
  }
  return found;
}

/** Files whose text the service extracts. Every other file is read as text. */
const contentTypes: Record<string, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

function documentOf(given: { path: string; shown: string; bytes: Uint8Array<ArrayBuffer> }): LocalDocument | Skipped {
  const { path, shown, bytes } = given;
  const type = contentTypes[/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (type) {
    // The file name becomes the title, and a name has no slashes.
    const title = titleOf(path.replaceAll('/', ' - '));
    return { path: shown, title, file: new File([bytes], title, { type }) };
  }
  const text = textOf(bytes, utf8);
  if (text === null)
    return { path: shown, reason: 'is neither text in UTF-8 nor a PDF, DOCX, XLSX, PPTX or HTML file.' };
  if (text.trim() === '') return { path: shown, reason: 'is empty.' };
  const sha256 = createHash('sha256').update(text, 'utf8').digest('hex');
  return { path: shown, title: titleOf(path), text, sha256, contentType: 'text/plain' };
}

function notebookOf(deployment: string, path: string, documents: LocalDocument[]): LocalNotebook {
  return {
    path,
    slug: ownSlug(deployment, path, 'notebook'),
    name: cut(`${deployment}: ${path}`, 80),
    description: descriptionOf(path, documents),
    documents,
  };
}

const longestDescription = 300;

/**
 * The agent decides by the description whether to search the notebook: it lists the topics of the documents, as far as
 * they fit.
 */
function descriptionOf(path: string, documents: readonly LocalDocument[]): string {
  const topics = [...new Set(documents.map(topicOf))];
  const told = (count: number) => {
    const left = topics.length - count;
    return `From ${cut(path, 80)}: ${topics.slice(0, count).join('; ')}${left > 0 ? `; and ${left} more` : ''}.`;
  };
  let count = topics.length;
  while (count > 1 && told(count).length > longestDescription) count -= 1;
  return topics.length === 0 ? `From ${cut(path, 80)}.` : cut(told(count), longestDescription);
}

/** The first heading of a text, or the file name in words. */
function topicOf(document: LocalDocument): string {
  const heading = 'text' in document ? /^#{1,3}[ \t]+(.+?)[ \t#]*$/m.exec(document.text)?.[1] : undefined;
  const name = document.path.split('/').at(-1) as string;
  const named = name.replace(/\.[^.]+$/, '').replace(/[-_]+/g, ' ');
  return cut((heading ?? named).trim(), 80);
}

/** Some systems encode `é` in a file name as one character and others as two: it is the same document. */
const titleOf = (path: string) => cut(path.normalize('NFC'), 200);

const cut = (text: string, most: number) => [...text].slice(0, most).join('');
