import { withoutCredentials } from '@vestra/agent/credential';
import { parsedJson } from '@vestra/agent/question';
import type { Manifest } from '../../agents/versions/index.ts';
import { type Exchange, type RecordedCall, transcriptOf } from '../../engine/conversations/index.ts';
import { isToolOf, type ScenarioFields } from './scenario.ts';

export type DraftOfTalk = {
  scenario: ScenarioFields;
  /** What of the talk the scenario does not hold, and why. */
  notes: string[];
};

/**
 * A talk as a scenario that the create route takes as it is: what the person said first is the goal, what they said later
 * the persona knows, and what the deployment's own tools answered is kept. No model is asked: each criterion is a word that
 * the agent passed on, or a tool that it called. `exchanges` has one at least.
 */
export function scenarioOfTalk(exchanges: readonly Exchange[], manifest: Manifest): DraftOfTalk {
  const { said } = transcriptOf(exchanges);
  const byUser = said.filter(({ role }) => role === 'user').map(({ text }) => clean(text));
  const byAgent = said.filter(({ role }) => role !== 'user').map(({ text }) => clean(text));
  const [first = '', ...later] = byUser.filter((text) => text.trim() !== '');
  const { kept, notes: ofTools } = keptCalls(exchanges, manifest);
  const goal = cut(first, 2000);
  const persona = personaOf(later);
  const criteria = criteriaOf(kept, byUser, byAgent);
  return {
    scenario: {
      name: cut(oneLine(first), 80),
      persona: cut(persona, 2000),
      goal,
      success_criteria: criteria.length === 0 ? ['The agent answers what the person asks for.'] : criteria,
      must_never: [],
      ...playedBy(kept),
      ...(saysYes(exchanges) && { approves: true }),
    },
    notes: [
      ...(goal === first ? [] : ['The first message is longer than 2,000 characters: the goal is its beginning.']),
      ...(persona.length <= 2000 ? [] : ['Not all of the later messages have room in the persona.']),
      ...(criteria.length > 0
        ? []
        : ['Nothing in the talk shows by itself what a good answer is: write the criteria.']),
      ...ofTools,
      ...notesOf(exchanges, manifest),
    ],
  };
}

function personaOf(later: readonly string[]): string {
  if (later.length === 0) return 'A person who uses this agent.';
  const lines = later.map((text) => `"${oneLine(text)}"`).join(', then ');
  return `A person who uses this agent. After the first message they say, where it fits: ${lines}.`;
}

type KeptCall = RecordedCall & { is_error: boolean };

const longestResult = 50_000;
const mostCharacters = 300_000;
const mostCalls = 50;

/** Results of tools that a test can play, in their order. */
function keptCalls(exchanges: readonly Exchange[], manifest: Manifest): { kept: KeptCall[]; notes: string[] } {
  const kept: KeptCall[] = [];
  const leftOut = new Map<string, Set<string>>();
  const leave = (why: string, name: string) => leftOut.set(why, (leftOut.get(why) ?? new Set()).add(name));
  let characters = 0;
  for (const call of exchanges.flatMap(({ reply, work }) => [...reply.calls, ...work.calls])) {
    if (call.output === null || call.result_from !== 'tool') continue;
    const tool = keyOf(call.name, manifest);
    if (tool === null) {
      const why = /^mcp__/.test(call.name) ? notOfVersion : notInTest.test(call.name) ? notRun : null;
      if (why) leave(why, call.name);
      continue;
    }
    if (call.output.length > longestResult || characters + call.output.length > mostCharacters) leave(tooLong, tool);
    else if (kept.length === mostCalls) leave(tooMany, tool);
    else {
      characters += call.output.length;
      const result = clean(structured(call.output));
      const given = clean(call.arguments) as Record<string, unknown>;
      kept.push({ tool, arguments: given, result, is_error: call.is_error === true });
      if (given !== call.arguments && JSON.stringify(given) !== JSON.stringify(call.arguments))
        leave(hadCredential, tool);
      if (JSON.stringify(result) !== JSON.stringify(structured(call.output))) leave(hadCredential, tool);
      if (call.media?.length) leave(hadPictures, tool);
    }
  }
  const notes = [...leftOut].map(([why, names]) => `${why} ${[...names].map((name) => `\`${name}\``).join(', ')}.`);
  return { kept, notes };
}

const notOfVersion = 'The newest version does not have these tools, or a test cannot play them:';
const notRun = 'A test runs none of these tools of the agent, and they answer an error:';
const tooLong = 'Results that are too long for a test were left out, of:';
const tooMany = `Only the first ${mostCalls} calls were kept; some were left out of:`;
const hadCredential = 'What looks like a credential was taken out of calls of:';
const hadPictures = 'Pictures and sound were left out of results of:';
const notInTest = /^(browser_|run_command$|read_file$|write_file$|list_files$|connect_app$)/;

/** As a scenario names a tool; null where it cannot. A name that was shortened for models does not say which tool it is. */
function keyOf(name: string, manifest: Manifest): string | null {
  if (manifest.tools.some((tool) => tool.function === name)) return name;
  const [, slug, tool = ''] = /^mcp__([a-z0-9-]+)__(.+)$/.exec(name) ?? [];
  const key = `${slug}.${tool}`;
  return slug === undefined || /_[0-9a-f]{8}$/.test(tool) || !isToolOf(manifest, key) ? null : key;
}

/** A tool that only ever answered one thing has an entry, which holds whatever the agent asks it the next time. */
function playedBy(kept: readonly KeptCall[]): Pick<ScenarioFields, 'tool_results' | 'recorded_calls'> {
  const byTool = [...Map.groupBy(kept, ({ tool }) => tool)];
  const answersOnce = ([, calls]: (typeof byTool)[number]) =>
    calls.every(({ is_error, result }) => !is_error && JSON.stringify(result) === JSON.stringify(calls[0]?.result));
  const entries = byTool.filter(answersOnce).slice(0, mostEntries);
  const isEntry = new Set(entries.map(([tool]) => tool));
  const recorded = kept.filter(({ tool }) => !isEntry.has(tool));
  return {
    ...(entries.length > 0 && {
      tool_results: Object.fromEntries(entries.map(([tool, [only]]) => [tool, only?.result])),
    }),
    ...(recorded.length > 0 && {
      recorded_calls: recorded.map(({ is_error, ...call }) => ({ ...call, ...(is_error && { is_error }) })),
    }),
  };
}

const mostEntries = 20;
const mostOfEach = 4;

/** In the words that the offline stand-in can judge as well. */
function criteriaOf(kept: readonly KeptCall[], byUser: readonly string[], byAgent: readonly string[]): string[] {
  const worked = kept.filter(({ is_error }) => !is_error);
  const tools = [...new Set(worked.map(({ tool }) => tool))].slice(0, mostOfEach);
  const last = byAgent.at(-1) ?? '';
  const isNews = (word: string) => !byUser.some((text) => says(text, word));
  const passedOn = worked
    .flatMap(({ result }) => wordsIn(result))
    .filter((word) => byAgent.some((text) => says(text, word)));
  const figures = last.match(/\d+(?:[.,:]\d+)*/g) ?? [];
  const words = [...new Set(passedOn.length > 0 ? passedOn : figures)].filter(isNews).slice(0, mostOfEach);
  return [...tools.map((tool) => `The agent calls ${tool}.`), ...words.map((word) => `The agent says "${word}".`)];
}

/** What can be quoted of an answer: short texts and figures. */
function wordsIn(value: unknown): string[] {
  if (typeof value === 'number') return String(value).length > 1 ? [String(value)] : [];
  if (typeof value === 'string') return /^[^"\n]{2,60}$/.test(value) && /[\p{L}\p{N}]/u.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(wordsIn);
}

function says(text: string, word: string): boolean {
  const wanted = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${wanted}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}

const waitsOf = ({ reply, work }: Exchange) => [...reply.waits, ...work.waits];

/** Of tools of the deployment's own servers alone, which is all that `approves` decides. */
function saysYes(exchanges: readonly Exchange[]): boolean {
  const decisions = exchanges
    .flatMap(waitsOf)
    .filter(({ type, purpose, details }) => type === 'approval' && purpose === 'permission' && details.server)
    .map(({ decision }) => decision);
  return decisions.includes('approved') && !decisions.includes('denied');
}

function notesOf(exchanges: readonly Exchange[], manifest: Manifest): string[] {
  const asked = exchanges.flatMap(({ user }) => user);
  const functions = new Set(manifest.tools.map((tool) => tool.function));
  const approved = exchanges
    .flatMap(waitsOf)
    .filter(({ type, decision, details }) => type === 'approval' && decision === 'approved' && !details.server)
    .map(({ details }) => String(details.tool_name))
    .filter((name) => functions.has(name));
  const named = [...new Set(approved)].map((name) => `\`${name}\``).join(', ');
  return [
    ...(named === ''
      ? []
      : [`The person said yes to ${named}. In a test a function that asks for a yes always gets a no.`]),
    ...(asked.some(({ attachments }) => attachments.length > 0) ? ['Files that were sent along are left out.'] : []),
    ...(asked.some(({ context }) => context !== null) ? ['The context that came with messages is left out.'] : []),
  ];
}

const structured = (output: string): unknown => {
  const value = parsedJson(output);
  return typeof value === 'object' && value !== null ? value : output;
};

const clean = <Value>(value: Value): Value => withoutCredentials('', value, Number.POSITIVE_INFINITY) as Value;

const oneLine = (text: string) => text.replace(/\s+/gu, ' ').trim();

const cut = (text: string, most: number) => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};
