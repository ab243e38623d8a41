import { Parser } from 'saxen';
import { fromBufferPromise } from 'yauzl';

/** The XML files in an Office file, by their path. */
export type OfficeParts = { read: (path: string) => string | undefined };

/** Of each file: a larger one would fill what the process may take before anything was read of it. */
const largestPart = 48 * 1024 * 1024;

export async function openParts(bytes: Uint8Array): Promise<OfficeParts> {
  const parts = new Map<string, string>();
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for await (const entry of zip.eachEntry()) {
    if (!/\.(xml|rels)$/i.test(entry.fileName) || entry.uncompressedSize > largestPart) continue;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > largestPart) throw new Error('An entry holds more than it says.');
      chunks.push(chunk);
    }
    parts.set(entry.fileName.toLowerCase(), Buffer.concat(chunks).toString('utf8'));
  }
  return { read: (path) => parts.get(path.toLowerCase()) };
}

export type Hearers = {
  /** Names come without their prefix: which one a file uses is its own choice. */
  open?: (name: string, attributes: Record<string, string>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
};

/** Nothing is heard of a part that is not there. Entities of the file's own are left as they stand, so none can grow. */
export function readXml(xml: string | undefined, { open, close, text }: Hearers): void {
  if (xml === undefined) return;
  const parser = new Parser();
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  parser.on('error', (error) => {
    throw error;
  });
  if (open) {
    parser.on('openTag', (name, attributes, decode) => {
      const given = Object.entries(attributes()).map(([key, value]) => [local(key), decode(value)]);
      open(local(name), Object.fromEntries(given));
    });
  }
  if (close) parser.on('closeTag', (name) => close(local(name)));
  if (text) {
    parser.on('text', (given, decode) => text(decode(given)));
    parser.on('cdata', text);
  }
  parser.parse(xml.replace(/^\ufeff/, ''));
}

/** What a file refers to, by the names that it uses for them. */
export function targetsOf(parts: OfficeParts, path: string): Map<string, { path: string; type: string }> {
  const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  const targets = new Map<string, { path: string; type: string }>();
  readXml(parts.read(`${folder}/_rels/${name}.rels`), {
    open: (element, { Id = '', Target = '', TargetMode = '', Type = '' }) => {
      if (element !== 'Relationship' || TargetMode === 'External') return;
      const target = URL.parse(Target, `file:///${folder}/`);
      if (target) targets.set(Id, { path: target.pathname.slice(1), type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
  });
  return targets;
}

/** A row of a Markdown table. */
const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')).join(' | ')} |`;

/** The first row is taken for the names of the columns. */
export function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [tableRow(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(tableRow)].join('\n');
}
