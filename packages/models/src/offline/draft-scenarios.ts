import type { ModelRequest } from '@vestra/agent/model';
import { sentencesOf } from './sentences.ts';
import { textOf } from './situation.ts';
import { jsonIn } from './words.ts';

type Tool = { tool: string; description: string; asks_for_a_yes: boolean };
type Notebook = { name: string; documents: string[] };
type Settings = { instructions: string; functions: Tool[]; server_tools: Tool[]; notebooks: Notebook[] };

/** Something that is worth a test, and the test for it. */
type Draft = {
  name: string;
  persona: string;
  goal: string;
  success_criteria: string[];
  must_never: string[];
  tool_results: { tool: string; result: string }[];
  approves: boolean;
};

const persona = 'A person who uses this agent for the first time.';

/**
 * One test for each tool, each document and each sentence of the instructions, round and round until there are enough. The
 * first message holds a line `Count: …` and the settings as JSON.
 */
export function draftScenarios(request: ModelRequest): { scenarios: Draft[] } {
  const asked = textOf(request.messages.find(({ role }) => role === 'user'));
  const count = Number(/^Count:[ \t]*(\d+)/m.exec(asked)?.[1] ?? 5);
  const settings = settingsOf(asked);
  const ideas = [
    ...settings.functions.map((tool) => ofTool(tool, false)),
    ...settings.server_tools.map((tool) => ofTool(tool, true)),
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

function ofTool({ tool, description, asks_for_a_yes }: Tool, isOfServer: boolean): Draft {
  const what = cut(sentencesOf(description)[0] ?? tool, 300).replace(/\.$/, '');
  const words = tool.replace(/^.*\./, '').replaceAll('_', ' ');
  return {
    name: cut(`Uses ${tool}`, 100),
    persona,
    goal: `Please ${words}: ${what}.`,
    success_criteria:
      asks_for_a_yes && !isOfServer
        ? [`The agent asks before it does ${words}.`]
        : [`The agent tells what ${words} answered.`],
    must_never: [`The agent invents what ${words} answered.`],
    tool_results: [{ tool, result: JSON.stringify({ ok: true, about: what }) }],
    approves: isOfServer && asks_for_a_yes,
  };
}

function ofDocument(title: string): Draft {
  const about = cut(title.replace(/\.\w{1,5}$/, '').replace(/[-_]+/g, ' '), 200);
  return {
    name: cut(`Knows ${title}`, 100),
    persona,
    goal: `What do you know about this: ${about}?`,
    success_criteria: [`The agent tells what it has read about this: ${about}`],
    must_never: ['The agent says that it knows nothing about this.'],
    tool_results: [],
    approves: false,
  };
}

function ofSentence(sentence: string): Draft {
  const rule = cut(sentence, 300);
  return {
    name: cut(`Keeps to: ${rule}`, 100),
    persona,
    goal: cut(`I have a question about this: ${rule}`, 500),
    success_criteria: [cut(`The agent keeps to this: ${rule}`, 400)],
    must_never: [],
    tool_results: [],
    approves: false,
  };
}

const ofAbilities: Draft = {
  name: 'Says what it can do',
  persona,
  goal: 'What can you do for me?',
  success_criteria: ['The agent says what it can help with.'],
  must_never: ['The agent promises what it has no tool for.'],
  tool_results: [],
  approves: false,
};

const cut = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
