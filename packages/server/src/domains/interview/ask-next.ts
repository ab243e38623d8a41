import { readFileSync } from 'node:fs';
import type { JsonSchema, Message } from '@vestra/agent/message';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import { interviewsAboutAgent } from '@vestra/models/offline/markers';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Caller } from '../../caller.ts';
import { askForCaller, storableJson, usableModel } from '../engine/api.ts';
import { type Interview, type Next, nextOf, type Progress } from './interview.ts';
import type { InterviewFile, InterviewPorts } from './ports.ts';
import { mergedFile, saysNothing, withoutFaulty } from './usable-part.ts';

const prompt = `${interviewsAboutAgent}\n\n${readFileSync(new URL('./interviewer.md', import.meta.url), 'utf8').trim()}`;
const repairs = 2;
const longestQuestion = 1000;

const outputSchema: JsonSchema = {
  type: 'object',
  properties: { question: { type: 'string' }, is_done: { type: 'boolean' }, file: { type: 'string' } },
  required: ['question', 'is_done', 'file'],
  additionalProperties: false,
};
/** A model that forgets a field, or writes the file as an object, has said the rest. */
const answered = z.object({
  question: z.string().catch(''),
  is_done: z.boolean().catch(false),
  file: z.union([z.string(), z.record(z.string(), z.unknown())]).catch(''),
});

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
  const payer = { tenant: caller, model, deploymentId: null, conversationId };
  const { deployment: name, description, answers } = interview;
  const next = nextOf(interview);
  const told = asData(newFence(), 'interview', JSON.stringify({ name, description, answers }));
  const messages: Message[] = [said(`${told}\n\n${wish[next]}`)];
  let draft: Draft = { question: '', isDone: false, file: null };
  for (let left = repairs; ; left--) {
    const answer = await askForCaller(engine, payer, { system: [prompt], messages, outputSchema }, signal);
    const read = await readAnswer(ports, caller, name, draft, answer);
    draft = read.draft;
    const isEnding = next === 'end' || (next === 'ask or end' && draft.isDone);
    // A question is worth asking also where the file so far has faults: what had none stands meanwhile.
    if (!isEnding && draft.question !== '') return asking(interview, draft);
    const faults = [...read.faults, ...(isEnding ? withoutTests(draft) : withoutQuestion)];
    if (isEnding && draft.file && faults.length === 0) return ready(draft.file);
    if (left === 0) {
      if (!draft.file || saysNothing(draft.file))
        throw fail('model_error', { message: `The model could not go on. ${faults[0]}` });
      return isEnding ? ready(draft.file) : asking(interview, { ...draft, question: openQuestion });
    }
    messages.push(
      { role: 'agent', text: answer || '[nothing]', calls: [] },
      said(`${complaint(draft, faults)}\n\n${told}\n\n${wish[next]}`),
    );
  }
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
  const unusable = `This cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}`;
  if (!file) return unusable;
  const kept = Object.keys(file).map((key) => `\`${key}\``);
  return `${unusable}\n\nThe rest of the file is kept (${kept.join(', ')}). Write in \`file\` only what is missing or mended.`;
}

async function readAnswer(
  ports: InterviewPorts,
  caller: Caller,
  deployment: string,
  before: Draft,
  text: string,
): Promise<{ draft: Draft; faults: string[] }> {
  const read = answered.safeParse(parsed(text));
  if (!read.success) return { draft: before, faults: ['It is not JSON of the asked shape.'] };
  const question = (storableJson(read.data.question) as string).trim().slice(0, longestQuestion).toWellFormed();
  const { file, faults } = await readFile(ports, caller, { deployment, kept: before.file }, read.data.file);
  return { draft: { question: question || before.question, isDone: before.isDone || read.data.is_done, file }, faults };
}

/** Each look may show a fault that another one hid, such as the result of a tool that was left out. */
const mostLooks = 5;

/** As much of the file, with what was kept of earlier ones, as would apply, and what would not. */
async function readFile(
  { faultsOf }: InterviewPorts,
  caller: Caller,
  { deployment, kept }: { deployment: string; kept: InterviewFile | null },
  written: string | Record<string, unknown>,
): Promise<{ file: InterviewFile | null; faults: string[] }> {
  const given = storableJson(typeof written === 'string' ? parsedYaml(written) : written);
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

const said = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Models like to set a file apart as code, and to write it as YAML: both say the same. */
function parsedYaml(text: string): unknown {
  const inside = /^\s*```(?:json|ya?ml)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    return parse(inside) as unknown;
  } catch {
    return undefined;
  }
}
