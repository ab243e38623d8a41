import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { refuse } from '../fault.ts';
import { refuseExisting, writeFolders } from '../new-folder.ts';
import { schemaAddress } from '../schema-address.ts';
import { folderOf } from './agent-folder.ts';
import { importDify } from './dify.ts';
import type { ImportedAgent } from './imported-agent.ts';
import { importLanggraph, isLanggraphFile } from './langgraph.ts';
import { importOpenai } from './openai.ts';
import { readExport } from './read-export.ts';
import { type FoundSecret, withoutSecrets } from './secrets-in-export.ts';

type Import = {
  platform: 'openai' | 'dify' | 'langgraph';
  cwd: string;
  /** As it was typed. */
  file: string;
  assistant: string | undefined;
  out: string | undefined;
  serverUrl: string;
};

export type WrittenImport = { folder: string; files: string[]; gaps: number; secrets: string[] };

/** Imports every agent of an export, each into a folder. Nothing is written if one of them cannot be. */
export async function importFolders(given: Import): Promise<WrittenImport[]> {
  const { agents, secrets } = await readAgents(given);
  const targets = agents.map((agent) => ({ agent, target: targetOf(agent, agents.length, given) }));
  for (const { target } of targets) await refuseExisting(target, given.cwd);
  const prepared = [];
  for (const { agent, target } of targets) {
    const schema = await schemaAddress(join(target, 'service.yaml'), given.serverUrl);
    const files = folderOf(agent, { platform: given.platform, file: basename(given.file), schema, secrets });
    prepared.push({ agent, target, files });
  }
  const written: WrittenImport[] = [];
  await writeFolders(prepared);
  for (const { agent, target, files } of prepared) {
    written.push({
      folder: relative(given.cwd, target) || '.',
      files: [...files.keys()].filter((path) => !path.endsWith('.gitkeep')).sort(),
      gaps: agent.gaps.length,
      secrets: secrets.map(({ name }) => name),
    });
  }
  return written;
}

/** Credentials are replaced before any importer sees the content. */
async function readAgents(given: Import): Promise<{ agents: ImportedAgent[]; secrets: FoundSecret[] }> {
  const { platform, cwd, file } = given;
  if (given.assistant !== undefined && platform !== 'langgraph')
    throw refuse('--assistant belongs to langgraph: name the file alone.');
  const path = resolve(cwd, file);
  const exported = await readExport(path, file, platform === 'dify' ? 'yaml' : 'json');
  if (platform !== 'langgraph') {
    const { content, secrets } = withoutSecrets(exported);
    const agents = platform === 'dify' ? importDify(content, file) : importOpenai(content, file);
    return { agents: withOwnSlugs(agents), secrets };
  }
  const both = isLanggraphFile(exported)
    ? { application: exported, assistants: await assistantOf(given) }
    : { application: await applicationBeside(path), assistants: exported };
  const { content, secrets } = withoutSecrets(both);
  return { agents: withOwnSlugs(importLanggraph(content as typeof both, file)), secrets };
}

const assistantOf = ({ cwd, assistant }: Import): Promise<unknown> =>
  assistant === undefined ? Promise.resolve(undefined) : readExport(resolve(cwd, assistant), assistant, 'json');

/** An assistant is often exported into the folder of its application. */
async function applicationBeside(path: string): Promise<unknown> {
  const beside = join(dirname(path), 'langgraph.json');
  const found = await stat(beside).catch(() => null);
  if (!found?.isFile() || beside === path) return undefined;
  const content = await readExport(beside, 'langgraph.json', 'json');
  return isLanggraphFile(content) ? content : undefined;
}

/** Two assistants of one name would write into one folder. */
function withOwnSlugs(agents: readonly ImportedAgent[]): ImportedAgent[] {
  const taken = new Set<string>();
  return agents.map((agent) => {
    let slug = agent.slug;
    for (let number = 2; taken.has(slug); number += 1) slug = `${agent.slug.slice(0, 58)}-${number}`;
    taken.add(slug);
    return { ...agent, slug };
  });
}

/** One agent is written into the named folder, several into folders below it. */
function targetOf({ slug }: ImportedAgent, count: number, { cwd, out }: Import): string {
  if (out === undefined) return resolve(cwd, slug);
  return count === 1 ? resolve(cwd, out) : resolve(cwd, out, slug);
}
