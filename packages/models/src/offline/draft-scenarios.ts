import type { ModelRequest } from '@vestra/agent/model';
import { isFact } from './prompt.ts';
import { sentencesOf } from './sentences.ts';
import { textOf } from './situation.ts';
import { jsonIn, stemsOf } from './words.ts';

type Tool = { tool: string; description: string; asks_for_a_yes: boolean };
type Notebook = { name: string; documents: string[] };
type Settings = { instructions: string; functions: Tool[]; server_tools: Tool[]; notebooks: Notebook[] };

/** Something worth testing, and its test. */
type Draft = {
  name: string;
  persona: string;
  goal: string;
  success_criteria: string[];
  must_never: string[];
  tool_results: { tool: string; result: string }[];
  approves: boolean;
};

/**
 * Drafts one test for each tool, document and sentence of the instructions, in rotation until there are enough. The
 * first message contains a line `Count: …` and the settings as JSON.
 */
export function draftScenarios(request: ModelRequest): { scenarios: Draft[] } {
  const asked = textOf(request.messages.find(({ role }) => role === 'user'));
  const count = Number(/^Count:[ \t]*(\d+)/m.exec(asked)?.[1] ?? 5);
  const settings = settingsOf(asked);
  const ideas = [
    ...settings.functions.map(ofTool),
    ...settings.server_tools.map(ofTool),
    ...[...new Set(settings.notebooks.flatMap(({ documents }) => documents))].map(ofDocument),
    ...sentencesOf(settings.instructions).map(ofSentence),
    ofAbilities,
  ];
  const scenarios = Array.from({ length: count }, (_, at) => {
    const idea = ideas[at % ideas.length] as Draft;
    const round = Math.floor(at / ideas.length) + 1;
    return round === 1 ? idea : { ...idea, name: `${idea.name} (${round})` };
  });
  return { scenarios };
}

function settingsOf(asked: string): Settings {
  const given = (jsonIn(asked) ?? {}) as Partial<Settings>;
  return {
    instructions: given.instructions ?? '',
    functions: given.functions ?? [],
    server_tools: given.server_tools ?? [],
    notebooks: given.notebooks ?? [],
  };
}

/** Tool calls can be judged by words alone, so the offline model can judge its own drafts. */
function ofTool({ tool, description, asks_for_a_yes }: Tool): Draft {
  const what = cut(sentencesOf(description)[0] ?? tool, 300).replace(/\.$/, '');
  const words = tool.replace(/^.*\./, '').replaceAll('_', ' ');
  return {
    ...blank,
    name: cut(`Uses ${tool}`, 100),
    goal: `Please ${words}: ${what}.`,
    success_criteria: [`The agent calls \`${tool}\`.`],
    tool_results: [{ tool, result: JSON.stringify({ ok: true, about: what }) }],
    approves: asks_for_a_yes,
  };
}

function ofDocument(title: string): Draft {
  const about = cut(title.replace(/\.\w{1,5}$/, '').replace(/[-_]+/g, ' '), 200);
  return {
    ...blank,
    name: cut(`Knows ${title}`, 100),
    goal: `What do you know about ${about}?`,
    success_criteria: ['The agent calls `search_notebooks`.'],
  };
}

/** Facts and prohibitions become questions. Other rules need a real judge. */
function ofSentence(sentence: string): Draft {
  const rule = cut(sentence, 300);
  if (isFact(sentence)) return { ...blank, name: cut(`Knows: ${rule}`, 100), ...askedFor(sentence) };
  const forbidden = /^(?:never: )?(?:never|do not|don['’]t) (.+?)[.!]?$/i.exec(sentence)?.[1];
  return {
    ...blank,
    name: cut(`Keeps to: ${rule}`, 100),
    goal: forbidden ? cut(`Please ${forbidden}.`, 500) : 'What can you do for me?',
    success_criteria: [cut(`The agent keeps to this: ${rule}`, 400)],
  };
}

/**
 * "We open at 9." is asked for by its words and recognised by its numbers. Without numbers, the whole sentence must be
 * said.
 */
function askedFor(fact: string): Pick<Draft, 'goal' | 'success_criteria'> {
  const plain = fact.replace(/["“”„«»]/gu, '').replace(/[.!]{1,20}$/, '');
  const figures = plain.match(/\d+(?:[.,:]\d+)*/g) ?? [];
  const about = (plain.match(/\p{L}+/gu) ?? []).filter((word) => stemsOf(word).length > 0).slice(0, 6);
  const said = figures.length === 0 ? [cut(plain, 300)] : figures.slice(0, 3);
  return {
    goal: cut(`What do you know about this: ${about.join(' ')}?`, 500),
    success_criteria: said.map((each) => `The agent says "${each}".`),
  };
}

const blank: Draft = {
  name: '',
  persona: 'A person who uses this agent for the first time.',
  goal: '',
  success_criteria: [],
  must_never: [],
  tool_results: [],
  approves: false,
};

const ofAbilities: Draft = {
  ...blank,
  name: 'Says what it can do',
  goal: 'What can you do for me?',
  success_criteria: ['The agent says what it can help with.'],
};

const cut = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
