import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { nearest } from '@vestra/contract/nearest';
import { schemaLine } from '@vestra/contract/schema-line';
import { misuse } from './fault.ts';
import { refuseExisting, writeFolders } from './new-folder.ts';
import { schemaAddress } from './schema-address.ts';

export type Template = {
  /** The name of its folder in `examples`, of its deployment, and of the new folder. */
  name: string;
  title: string;
  /** The commands to type next. `$folder` is the new folder, `$name` the deployment. */
  next: readonly string[];
};

/** The package contains these folders of `examples` (scripts/build.ts). */
export const templates: readonly Template[] = [
  {
    name: 'support-desk',
    title: 'Support desk with refunds',
    next: ['npx vestra apply $folder', 'npx vestra ask "What is your returns policy?" --deployment $name'],
  },
  {
    name: 'research-helper',
    title: 'Research over documents',
    next: [
      'npx vestra apply $folder',
      'npx vestra ask "How many smart thermostats were sold in Portugal?" --deployment $name',
    ],
  },
  {
    name: 'it-desk',
    title: 'IT desk with an MCP server',
    next: [
      'VESTRA_ALLOW_PRIVATE_ADDRESSES=1 npx vestra start   # a running server: stop it first. It may then call tickets.js on this machine',
      'node $folder/tickets.js   # in another terminal',
      'npx vestra apply $folder',
      'npx vestra ask "What is the status of ticket T-17?" --deployment $name',
    ],
  },
  {
    name: 'invoice-reader',
    title: 'Data extraction in batches',
    next: [
      'npx vestra apply $folder',
      'npx vestra functions serve $folder/functions.js --deployment $name   # in another terminal',
      'npx vestra batches create --deployment $name --items @$folder/items.json',
    ],
  },
  {
    name: 'voice-reception',
    title: 'Voice reception',
    next: [
      'npx vestra apply $folder',
      'npx vestra ask "When is the reception open?" --deployment $name',
      'npx vestra setup voice   # once, to speak with it',
      'npx vestra embed --voice true --user ada --deployment $name',
    ],
  },
];

/** In the bundle this path leads to `examples` of the package. */
const examples = join(import.meta.dirname, '../../../examples');

export function templateNamed(name: string): Template {
  const found = templates.find((each) => each.name === name);
  if (found) return found;
  const names = templates.map((each) => each.name);
  const [meant] = nearest(name, names);
  const hint = meant ? `Did you mean ${meant}?` : `There are: ${names.join(', ')}.`;
  throw misuse(`There is no template ${name}. ${hint}`, '--template');
}

export type WrittenTemplate = { template: string; deployment: string; folder: string; files: string[]; next: string[] };

/** Copies a template into a new folder, with the name of the deployment and the address of the server filled in. */
export async function writeTemplate(
  { name, next }: Template,
  given: { cwd: string; out: string | undefined; deployment: string | undefined; serverUrl: string },
): Promise<WrittenTemplate> {
  const deployment = given.deployment ?? name;
  const target = resolve(given.cwd, given.out ?? deployment);
  const folder = (relative(given.cwd, target) || '.').replaceAll('\\', '/');
  await refuseExisting(target, given.cwd);
  const schema = schemaLine(await schemaAddress(join(target, 'service.yaml'), given.serverUrl));
  const files = new Map<string, string | Uint8Array>();
  for (const path of filesIn(join(examples, name))) {
    const text = await readFile(join(examples, name, path), 'utf8');
    const named = text
      // Notes for our own test of documented commands.
      .replaceAll(/^<!-- not run: .* -->\n/gm, '')
      .replaceAll(`examples/${name}`, folder)
      .replaceAll(/\]\(\.\.\/\.\.\/docs\/([\w-]+)\.md(#[\w-]+)?\)/g, `](${given.serverUrl}/docs/guide/$1$2)`)
      .replaceAll(new RegExp(`(?<![\\w/-])${name}(?![\\w/-])`, 'g'), deployment);
    files.set(path, path === 'service.yaml' ? named.replace(/^# yaml-language-server: .*\n/, schema) : named);
  }
  await writeFolders([{ target, files }]);
  const commands = next.map((each) => each.replaceAll('$folder', folder).replaceAll('$name', deployment));
  return { template: name, deployment, folder, files: [...files.keys()], next: commands };
}

const filesIn = (folder: string): string[] =>
  globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
