import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable, withoutFence } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import { ask, type Engine, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';
import { storableJson } from '../../platform/db/sql.ts';

/** The state of an interview, as its conversation stores it. */
const progress = z.object({
  status: z.enum(['asking', 'ready']),
  question: z.string().nullable(),
  file: z.looseObject({ name: z.string() }).nullable(),
  // Interviews of earlier releases did not record it.
  dropped: z.array(z.object({ part: z.string(), name: z.string().nullable(), message: z.string() })).default([]),
});

export type InterviewProgress = z.infer<typeof progress>;

/** A part of the model's file that would not apply: an entry of a list, or a whole key if `name` is null. */
type DroppedPart = InterviewProgress['dropped'][number];

/** An interview, read from the messages of its conversation. */
export type Interview = {
  deployment: string;
  description: string;
  answers: { question: string; answer: string }[];
  latest: InterviewProgress | null;
};

const fewest = 5;
const most = 8;

/** The number of answers decides what may come next, never the model alone. */
type Next = 'ask' | 'ask or end' | 'end';

export function nextOf({ answers, latest }: Interview): Next {
  if (latest?.status === 'ready' || answers.length >= most) return 'end';
  return answers.length < fewest ? 'ask' : 'ask or end';
}

/** A remark on a finished file answers no question. It changes the file like an answer. */
const remark = 'Is there anything to change in the file?';

export function withAnswer(interview: Interview, answer: string): Interview {
  const question = interview.latest?.question ?? remark;
  return { ...interview, answers: [...interview.answers, { question, answer }] };
}

type InterviewMessage = { role: string; text: string; context: Record<string, unknown> | null; data: unknown };

/** Returns null if the messages are not an interview. */
export function readInterview(said: readonly InterviewMessage[]): Interview | null {
  const [first] = said;
  const deployment = first?.context?.deployment;
  if (!first || typeof deployment !== 'string') return null;
  let interview: Interview = { deployment, description: first.text, answers: [], latest: null };
  for (const { role, text, data } of said.slice(1)) {
    if (role === 'user') interview = withAnswer(interview, text);
    else interview = { ...interview, latest: progress.parse(data) };
  }
  return interview;
}

type InterviewFile = Record<string, unknown> & { name: string };

/** `param` is the path in the file, such as `tools.0.function`. */
type FileFault = { param: string; message: string };

/** Parts of the server that an interview needs. */
export type InterviewPorts = {
  engine: Engine;
  /** All faults for which an apply would refuse the file; empty if it would be accepted. */
  faultsOf: (caller: Caller, file: InterviewFile) => Promise<FileFault[]>;
  /** Renders the file as text that parses to the same file. */
  render: (file: InterviewFile) => Promise<string>;
};

const prompt = readFileSync(join(import.meta.dirname, 'interviewer.md'), 'utf8').trim();
const maxQuestion = 1000;

/** Lenient: if a model forgets a field or writes the file as an object, the rest is still used. */
const schema = z.object({
  question: z.string().catch(''),
  is_done: z.boolean().catch(false),
  file: z.preprocess((file) => (typeof file === 'object' ? JSON.stringify(file) : file), z.string().catch('')),
});
type Answer = z.output<typeof schema>;

/** The usable parts of the model's answers so far. */
type Draft = { question: string; isDone: boolean; file: InterviewFile | null; dropped: readonly DroppedPart[] };

/**
 * Returns the next question, or a file that can be applied. Usable parts of an answer are kept, and the model is asked
 * twice to fix the rest. It fails only if nothing is usable.
 */
export async function askNext(
  ports: InterviewPorts,
  caller: Caller,
  { interview, conversationId }: { interview: Interview; conversationId: string },
  signal: AbortSignal,
): Promise<InterviewProgress> {
  const { engine } = ports;
  const model = usableModel(engine.models, caller.mode, 'default');
  const paid = paidByOrg(engine, { tenant: caller, model, deploymentId: null, conversationId });
  const { deployment: name, description, answers } = interview;
  const next = nextOf(interview);
  const told = asData(newFence(), 'interview', JSON.stringify({ name, description, answers }));
  const request = `${told}\n\n${wish[next]}`;
  let draft: Draft = { question: '', isDone: false, file: null, dropped: [] };
  return ask({
    purpose: 'interview',
    prompt,
    messages: [saidByUser(request)],
    schema,
    repairs: 2,
    read: async (answer, isLast): Promise<Reading<InterviewProgress>> => {
      const read = await readAnswer(ports, caller, name, draft, answer);
      draft = read.draft;
      const isEnding = next === 'end' || (next === 'ask or end' && draft.isDone);
      // Ask the question even if the file has faults: the parts without faults are kept.
      if (!isEnding && draft.question !== '') return { value: asking(interview, draft) };
      const faults = [...read.faults, ...(isEnding ? withoutTests(draft) : withoutQuestion)];
      if (isEnding && draft.file && faults.length === 0) return { value: ready(draft.file, draft.dropped) };
      if (!isLast) return { again: `${complaint(draft, faults)}\n\n${request}` };
      if (!draft.file || isEmptyFile(draft.file))
        throw fail('model_error', {
          message: `The interview cannot continue: the model returned no usable file. ${faults[0]}`,
        });
      return {
        value: isEnding ? ready(draft.file, draft.dropped) : asking(interview, { ...draft, question: openQuestion }),
      };
    },
    payer: forWaitingCaller(paid),
    signal,
  });
}

const wish: Record<Next, string> = {
  ask: 'Ask the next question. You are not done yet.',
  'ask or end': 'Ask the next question, or end where everything that matters is known.',
  end: 'End now: ask nothing more and write the whole file, with tests.',
};

/** Asked if the model has no question. */
const openQuestion = 'What else should the agent know, and what must it never do?';

function asking({ latest }: Interview, { question, file, dropped }: Draft): InterviewProgress {
  const kept = file ?? latest?.file ?? null;
  return { status: 'asking', question, file: kept, dropped: stillMissing(dropped, kept) };
}

const ready = (file: InterviewFile, dropped: readonly DroppedPart[]): InterviewProgress => ({
  status: 'ready',
  question: null,
  file,
  dropped: stillMissing(dropped, file),
});

/** Leaves out parts that the model fixed in a later answer, and tells the last fault of each other part. */
function stillMissing(dropped: readonly DroppedPart[], file: InterviewFile | null): DroppedPart[] {
  const parts = new Map(dropped.map((each) => [JSON.stringify([each.part, each.name]), each]));
  return [...parts.values()].filter(({ part, name }) => {
    const value = file?.[part];
    return name === null ? value === undefined : !(Array.isArray(value) && value.some((each) => nameOf(each) === name));
  });
}

const withoutQuestion = ['`question` is empty: ask the next question.'];

const withoutTests = ({ file }: Draft) =>
  file && (!Array.isArray(file.tests) || file.tests.length === 0) ? ['file.tests: Write at least one test.'] : [];

function complaint({ file }: Draft, faults: readonly string[]): string {
  if (!file) return unusable(faults);
  const kept = Object.keys(file).map((key) => `\`${key}\``);
  return `${unusable(faults)}\n\nThe rest of the file stays as it is (${kept.join(', ')}). Write in \`file\` only what is missing or fixed.`;
}

async function readAnswer(
  ports: InterviewPorts,
  caller: Caller,
  deployment: string,
  before: Draft,
  answer: Answer | null,
): Promise<{ draft: Draft; faults: string[] }> {
  if (answer === null) return { draft: before, faults: [notOfTheShape] };
  const question = (storableJson(answer.question) as string).trim().slice(0, maxQuestion).toWellFormed();
  const read = await readFile(ports, caller, { deployment, kept: before.file }, answer.file);
  const draft = {
    question: question || before.question,
    isDone: before.isDone || answer.is_done,
    file: read.file,
    dropped: [...before.dropped, ...read.dropped],
  };
  return { draft, faults: read.faults };
}

/** Removing a faulty part may reveal another fault, such as the result of a removed tool. */
const maxLooks = 5;

/** The part of the file, merged with earlier ones, that would be accepted, and the faults of the rest. */
async function readFile(
  { faultsOf }: InterviewPorts,
  caller: Caller,
  { deployment, kept }: { deployment: string; kept: InterviewFile | null },
  written: string,
): Promise<{ file: InterviewFile | null; faults: string[]; dropped: DroppedPart[] }> {
  const given = storableJson(await parsedYaml(written));
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { file: kept, faults: ['`file` is not the JSON text of an object.'], dropped: [] };
  }
  let file: InterviewFile | null = mergedFile(kept, { ...given, name: deployment });
  const told: string[] = [];
  const dropped: DroppedPart[] = [];
  for (let looks = 0; file && looks < maxLooks; looks++) {
    const faults = await faultsOf(caller, file);
    if (faults.length === 0) return { file, faults: told, dropped };
    told.push(...faults.map(({ param, message }) => `file.${param}: ${message}`));
    dropped.push(...droppedBy(file, faults));
    file = withoutFaulty(file, faults);
  }
  return { file: kept, faults: told, dropped };
}

/** Names the parts as the person knows them: by name, because they never see the places of the faulty file. */
const droppedBy = (file: InterviewFile, faults: readonly FileFault[]): DroppedPart[] =>
  faults.map(({ param, message }) => {
    const [part = '', index = ''] = param.split('.');
    const list = file[part];
    if (!Array.isArray(list) || !/^\d+$/.test(index)) return { part, name: null, message };
    const name = nameOf(list[Number(index)]);
    return { part, name: typeof name === 'string' ? name : `entry ${Number(index) + 1}`, message };
  });

/** Models often write YAML instead of JSON. */
async function parsedYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(withoutFence(text)) as unknown;
  } catch {
    return undefined;
  }
}

/** Removes the faulty parts: a list entry if the fault is in one, otherwise the whole key. Null if nothing is left. */
function withoutFaulty(file: InterviewFile, faults: readonly FileFault[]): InterviewFile | null {
  const faulty = new Map<string, Set<number> | 'whole'>();
  for (const { param } of faults) {
    const [key = '', index = ''] = param.split('.');
    const known = faulty.get(key) ?? new Set<number>();
    const isEntry = Array.isArray(file[key]) && /^\d+$/.test(index);
    faulty.set(key, isEntry && known !== 'whole' ? known.add(Number(index)) : 'whole');
  }
  if (faulty.has('') || faulty.has('name')) return null;
  const left = Object.entries(file).flatMap(([key, value]) => {
    const which = faulty.get(key);
    if (which === 'whole') return [];
    return [[key, which ? (value as unknown[]).filter((_, at) => !which.has(at)) : value]];
  });
  const rest = { ...Object.fromEntries(left), name: file.name };
  return isEmptyFile(rest) ? null : rest;
}

/** Merges the kept file with what the model has written since. Of two list entries with one name the newer counts. */
function mergedFile(kept: InterviewFile | null, given: InterviewFile): InterviewFile {
  if (!kept) return given;
  const lists = Object.entries(given).flatMap(([key, value]) => {
    const before = kept[key];
    return Array.isArray(value) && Array.isArray(before) ? [[key, mergedList(before, value)]] : [];
  });
  return { ...kept, ...given, ...Object.fromEntries(lists) };
}

const mergedList = (before: readonly unknown[], given: readonly unknown[]) => [
  ...before.filter((old) => !given.some((entry) => isSame(old, entry))),
  ...given,
];

function isSame(one: unknown, other: unknown): boolean {
  const name = nameOf(one);
  return name === undefined ? isDeepStrictEqual(one, other) : name === nameOf(other);
}

function nameOf(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { function: called, mcp, name } = entry as Record<string, unknown>;
  return called ?? mcp ?? name;
}

/** A file with only a name describes no agent. */
const isEmptyFile = ({ name: _, ...rest }: InterviewFile) =>
  Object.values(rest).every((value) => value === '' || (Array.isArray(value) && value.length === 0));
