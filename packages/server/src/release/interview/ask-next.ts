import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable, withoutFence } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import { ask, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';
import { storableJson } from '../../platform/db/storable-text.ts';
import { type Interview, type Next, nextOf, type Progress } from './interview.ts';
import type { InterviewFile, InterviewPorts } from './ports.ts';
import { mergedFile, saysNothing, withoutFaulty } from './usable-part.ts';

const prompt = readFileSync(join(import.meta.dirname, 'interviewer.md'), 'utf8').trim();
const longestQuestion = 1000;

/** A model that forgets a field, or writes the file as an object, has said the rest. */
const schema = z.object({
  question: z.string().catch(''),
  is_done: z.boolean().catch(false),
  file: z.preprocess((file) => (typeof file === 'object' ? JSON.stringify(file) : file), z.string().catch('')),
});
type Answer = z.output<typeof schema>;

/** What is usable of the model's answers so far. */
type Draft = { question: string; isDone: boolean; file: InterviewFile | null };

/**
 * The next question, or the file that applies as it is. What is usable of an answer is kept; the model is told, twice, what
 * is not, and asked for that alone. Only where nothing can be used at all is there no next step.
 */
export async function askNext(
  ports: InterviewPorts,
  caller: Caller,
  { interview, conversationId }: { interview: Interview; conversationId: string },
  signal: AbortSignal,
): Promise<Progress> {
  const { engine } = ports;
  const model = usableModel(engine.models, caller.mode, 'default');
  const paid = paidByOrg(engine, { tenant: caller, model, deploymentId: null, conversationId });
  const { deployment: name, description, answers } = interview;
  const next = nextOf(interview);
  const told = asData(newFence(), 'interview', JSON.stringify({ name, description, answers }));
  const request = `${told}\n\n${wish[next]}`;
  let draft: Draft = { question: '', isDone: false, file: null };
  return ask({
    purpose: 'interview',
    prompt,
    messages: [saidByUser(request)],
    schema,
    repairs: 2,
    read: async (answer, isLast): Promise<Reading<Progress>> => {
      const read = await readAnswer(ports, caller, name, draft, answer);
      draft = read.draft;
      const isEnding = next === 'end' || (next === 'ask or end' && draft.isDone);
      // A question is worth asking also where the file so far has faults: what had none stands meanwhile.
      if (!isEnding && draft.question !== '') return { value: asking(interview, draft) };
      const faults = [...read.faults, ...(isEnding ? withoutTests(draft) : withoutQuestion)];
      if (isEnding && draft.file && faults.length === 0) return { value: ready(draft.file) };
      if (!isLast) return { again: `${complaint(draft, faults)}\n\n${request}` };
      if (!draft.file || saysNothing(draft.file))
        throw fail('model_error', { message: `The model could not go on. ${faults[0]}` });
      return { value: isEnding ? ready(draft.file) : asking(interview, { ...draft, question: openQuestion }) };
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

/** Where the model has none of its own. */
const openQuestion = 'What else should the agent know, and what must it never do?';

const asking = ({ latest }: Interview, { question, file }: Draft): Progress => ({
  status: 'asking',
  question,
  file: file ?? latest?.file ?? null,
});

const ready = (file: InterviewFile): Progress => ({ status: 'ready', question: null, file });

const withoutQuestion = ['`question` is empty: ask the next question.'];

const withoutTests = ({ file }: Draft) =>
  file && (!Array.isArray(file.tests) || file.tests.length === 0) ? ['file.tests: Write at least one test.'] : [];

function complaint({ file }: Draft, faults: readonly string[]): string {
  if (!file) return unusable(faults);
  const kept = Object.keys(file).map((key) => `\`${key}\``);
  return `${unusable(faults)}\n\nThe rest of the file is kept (${kept.join(', ')}). Write in \`file\` only what is missing or mended.`;
}

async function readAnswer(
  ports: InterviewPorts,
  caller: Caller,
  deployment: string,
  before: Draft,
  answer: Answer | null,
): Promise<{ draft: Draft; faults: string[] }> {
  if (answer === null) return { draft: before, faults: [notOfTheShape] };
  const question = (storableJson(answer.question) as string).trim().slice(0, longestQuestion).toWellFormed();
  const { file, faults } = await readFile(ports, caller, { deployment, kept: before.file }, answer.file);
  return { draft: { question: question || before.question, isDone: before.isDone || answer.is_done, file }, faults };
}

/** Each look may show a fault that another one hid, such as the result of a tool that was left out. */
const mostLooks = 5;

/** As much of the file, with what was kept of earlier ones, as would apply, and what would not. */
async function readFile(
  { faultsOf }: InterviewPorts,
  caller: Caller,
  { deployment, kept }: { deployment: string; kept: InterviewFile | null },
  written: string,
): Promise<{ file: InterviewFile | null; faults: string[] }> {
  const given = storableJson(await parsedYaml(written));
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { file: kept, faults: ['`file` is not the JSON text of an object.'] };
  }
  let file: InterviewFile | null = mergedFile(kept, { ...given, name: deployment });
  const told: string[] = [];
  for (let looks = 0; file && looks < mostLooks; looks++) {
    const faults = await faultsOf(caller, file);
    if (faults.length === 0) return { file, faults: told };
    told.push(...faults.map(({ param, message }) => `file.${param}: ${message}`));
    file = withoutFaulty(file, faults);
  }
  return { file: kept, faults: told };
}

/** Models like to write a file as YAML, which says the same. */
async function parsedYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(withoutFence(text)) as unknown;
  } catch {
    return undefined;
  }
}
