import { basename, extname } from 'node:path';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { deploymentSlug } from '@vestra/contract/slug';
import { functionEntry } from '@vestra/contract/tool-entry';
import { cutText, joinedWords, type LooseMap, oneLine } from './loose-value.ts';

export type ImportedFunction = {
  name: string;
  description: string;
  input: LooseMap;
  /** Notes of the export about its code, as comment lines of the stub. */
  notes: readonly string[];
};

export type ImportedServer = {
  mcp: string;
  name?: string;
  auth?: string;
  headers?: Record<string, string>;
  allow?: string[];
  require_approval?: string[];
  run_without_asking?: string[] | 'all';
};

/** An agent of another platform, in the terms of a deployment file. */
export type ImportedAgent = {
  /** The name on the other platform. */
  title: string;
  /** The kind and id on the other platform, such as `assistant asst_1`. */
  source: string;
  slug: string;
  instructions: string;
  /** The model of the export. The file keeps the server's default, since another server has other models. */
  model: string | null;
  reasoning: 'off' | 'low' | 'medium' | 'high' | null;
  maxSteps: number | null;
  functions: ImportedFunction[];
  servers: ImportedServer[];
  /** Files that the export only names. */
  downloads: { what: string; where: string; to: 'knowledge' | 'files' }[];
  /** Messages of users, from which tests are drafted. */
  questions: string[];
  /** Further files of the folder, by path. */
  files: Map<string, string>;
  taken: string[];
  gaps: { what: string; instead: string }[];
};

export function startAgent({ title, source, file }: { title: string; source: string; file: string }): ImportedAgent {
  return {
    title: oneLine(title, 120) || 'Imported agent',
    source: oneLine(source),
    slug: slugOf(title) ?? slugOf(basename(file, extname(file))) ?? 'imported-agent',
    instructions: '',
    model: null,
    reasoning: null,
    maxSteps: null,
    functions: [],
    servers: [],
    downloads: [],
    questions: [],
    files: new Map(),
    taken: [],
    gaps: [],
  };
}

/** Null for a name without Latin letters and digits. */
function slugOf(title: string): string | null {
  const slug = joinedWords(title, '-').slice(0, 63).replace(/-+$/, '');
  return deploymentSlug.safeParse(slug).success ? slug : null;
}

const longestDescription = 1024;
const mostTools = 50;

/** Adds a function under a name that the contract accepts, and returns that name; null if there is no room. */
export function addFunction(
  agent: ImportedAgent,
  given: { name: string; description: string; input: unknown; notes?: readonly string[] },
): string | null {
  if (agent.functions.length + agent.servers.length >= mostTools) {
    agent.gaps.push({
      what: `Function \`${oneLine(given.name, 80)}\``,
      instead: `A deployment has at most ${mostTools} tools. Join functions, or offer them as an MCP server.`,
    });
    return null;
  }
  const name = freeName(agent, given.name);
  const description = given.description.trim();
  const entry = {
    name,
    description: cutText(description || `Calls ${given.name || name}.`, longestDescription),
    input: (given.input ?? {}) as LooseMap,
    notes: given.notes ?? [],
  };
  const checked = functionEntry.safeParse({ function: name, description: entry.description, input: entry.input });
  if (!checked.success) {
    entry.input = { type: 'object', properties: {} };
    agent.gaps.push({
      what: `The arguments of \`${name}\``,
      instead: `Write them under \`input\`: those of the export cannot be used. ${oneLine(checked.error.issues[0]?.message ?? '')}`,
    });
  }
  if (description === '') agent.gaps.push({ what: `A description of \`${name}\``, instead: describeIt });
  if ([...description].length > longestDescription) {
    agent.gaps.push({
      what: `The end of the description of \`${name}\``,
      instead: `A description has at most ${longestDescription.toLocaleString('en')} characters. Move the rest to \`instructions\`.`,
    });
  }
  agent.functions.push(entry);
  const renamed = name === given.name ? '' : `, which was \`${oneLine(given.name, 80)}\``;
  agent.taken.push(`Function \`${name}\`${renamed}, with its arguments.`);
  return name;
}

const describeIt = 'The agent decides by the description when to call a function. Write one or two sentences.';

function freeName({ functions }: ImportedAgent, given: string): string {
  const words = joinedWords(given, '_').slice(0, 58).replace(/_+$/, '');
  const start = /^[a-z]/.test(words) ? words : `call_${words}`.replace(/_$/, '');
  const base = reservedToolNames.has(start) || start.startsWith('mcp__') ? `own_${start}` : start;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (!functions.some((other) => other.name === name)) return name;
  }
}

const longestInstructions = 8000;

/**
 * Sets the instructions. Those that are too long continue in a skill, which the agent reads when its instructions refer to it.
 */
export function setInstructions(agent: ImportedAgent, text: string): void {
  const whole = text.trim();
  if (whole === '') return;
  agent.taken.push(`Instructions, ${[...whole].length.toLocaleString('en')} characters.`);
  if ([...whole].length <= longestInstructions) {
    agent.instructions = whole;
    return;
  }
  const pointer =
    '\n\nThese instructions continue in the skill `further-instructions`. Read it before your first answer.';
  const room = [...whole].slice(0, longestInstructions - pointer.length).join('');
  // A cut between paragraphs keeps each instruction whole.
  const end = Math.max(room.lastIndexOf('\n\n'), room.lastIndexOf('\n'));
  const cut = end > room.length / 2 ? end : room.length;
  agent.instructions = `${whole.slice(0, cut).trimEnd()}${pointer}`;
  agent.files.set(
    'skills/further-instructions/SKILL.md',
    `---\nname: further-instructions\ndescription: The second part of the instructions. Read it before the first answer of a conversation.\n---\n${whole.slice(cut).trim()}\n`,
  );
  agent.gaps.push({
    what: `Instructions of more than ${longestInstructions.toLocaleString('en')} characters`,
    instead:
      'The rest is in `skills/further-instructions/SKILL.md`. Shorten the instructions, or move each topic to a skill or a page of knowledge.',
  });
}
