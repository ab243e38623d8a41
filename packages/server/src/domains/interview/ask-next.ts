import { readFileSync } from 'node:fs';
import type { JsonSchema, Message } from '@vestra/agent/message';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import { interviewsAboutAgent } from '@vestra/models/offline/markers';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Caller } from '../../caller.ts';
import { askForCaller, cleanJson, usableModel } from '../engine/api.ts';
import { type Interview, type Next, nextOf, type Progress } from './interview.ts';
import type { InterviewFile, InterviewPorts } from './ports.ts';

const prompt = `${interviewsAboutAgent}\n\n${readFileSync(new URL('./interviewer.md', import.meta.url), 'utf8').trim()}`;
const repairs = 2;
const longestQuestion = 1000;

const outputSchema: JsonSchema = {
  type: 'object',
  properties: { question: { type: 'string' }, is_done: { type: 'boolean' }, file: { type: 'string' } },
  required: ['question', 'is_done', 'file'],
  additionalProperties: false,
};
const answered = z.object({ question: z.string(), is_done: z.boolean(), file: z.string() });

/** The next question, or the file that applies as it is. A model that cannot write one is told why, twice. */
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
  for (let left = repairs; ; left--) {
    const answer = await askForCaller(engine, payer, { system: [prompt], messages, outputSchema }, signal);
    const read = await readAnswer(ports, caller, interview, next, answer);
    if ('progress' in read) return read.progress;
    if (left === 0) throw fail('model_error', { message: `The model could not go on. ${read.faults[0]}` });
    messages.push(
      { role: 'agent', text: answer || '[nothing]', calls: [] },
      said(`This cannot be used:\n${read.faults.map((fault) => `- ${fault}`).join('\n')}\n\n${told}\n\n${wish[next]}`),
    );
  }
}

const wish: Record<Next, string> = {
  ask: 'Ask the next question. You are not done yet.',
  'ask or end': 'Ask the next question, or end where everything that matters is known.',
  end: 'End now: ask nothing more and write the whole file, with tests.',
};

/** A question is worth asking also where the file so far has faults: the last one that had none stands meanwhile. */
async function readAnswer(
  ports: InterviewPorts,
  caller: Caller,
  { deployment, latest }: Interview,
  next: Next,
  text: string,
): Promise<{ progress: Progress } | { faults: string[] }> {
  const read = answered.safeParse(parsed(text));
  if (!read.success) return { faults: ['It is not JSON of the asked shape.'] };
  const { is_done: isDone } = read.data;
  const question = (cleanJson(read.data.question) as string).trim().slice(0, longestQuestion).toWellFormed();
  const isEnding = next === 'end' || (next === 'ask or end' && isDone);
  if (!isEnding && question === '') return { faults: ['`question` is empty: ask the next question.'] };
  const { file, faults } = await readFile(ports, caller, deployment, read.data.file);
  const usable = faults.length === 0 ? file : null;
  if (!isEnding) return { progress: { status: 'asking', question, file: usable ?? latest?.file ?? null } };
  if (usable === null) return { faults };
  if (!Array.isArray(usable.tests) || usable.tests.length === 0)
    return { faults: ['file.tests: Write at least one test.'] };
  return { progress: { status: 'ready', question: null, file: usable } };
}

async function readFile(
  { faultsOf }: InterviewPorts,
  caller: Caller,
  deployment: string,
  text: string,
): Promise<{ file: InterviewFile | null; faults: string[] }> {
  const given = cleanJson(parsedYaml(text));
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { file: null, faults: ['`file` is not the JSON text of an object.'] };
  }
  const file = { ...given, name: deployment };
  const faults = await faultsOf(caller, file);
  return { file, faults: faults.map((fault) => `file.${fault}`) };
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
