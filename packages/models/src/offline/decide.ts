import type { ToolDefinition } from '@vestra/agent/message';
import type { ModelRequest, Purpose } from '@vestra/agent/model';
import { answerOf, isAboutItself, isQuestion, knowledgeTools, ofOwnKnowledge, withNotice } from './answer.ts';
import { fittingTools, type WantedTool } from './choose-tool.ts';
import { draftScenarios } from './draft-scenarios.ts';
import { type Facts, factsOf } from './facts.ts';
import { fillArguments, valueFor } from './fill-arguments.ts';
import { improve } from './improve.ts';
import { interview } from './interview.ts';
import { judge } from './judge.ts';
import { asFact, keepMemory } from './keep-memory.ts';
import { playUser } from './play-user.ts';
import { fillSchema, type Knowledge } from './schema/fill-schema.ts';
import { fits } from './schema/fits.ts';
import { nodeOf, typesOf } from './schema/schema-node.ts';
import { type Situation, situationOf, textOf } from './situation.ts';

/** The model's text and tool calls. */
export type Decision = { text: string; calls: { name: string; arguments: unknown }[] };

const mostCalls = 8;

export function decide(request: ModelRequest): Decision {
  if (request.purpose) return say(JSON.stringify(inShape(request, answers[request.purpose](request))));
  const situation = situationOf(request);
  return nextCall(request, situation) ?? conclude(request, situation);
}

/** Each reads the request itself, because `offline` understands no instructions in a prompt. */
const answers: Record<Purpose, (request: ModelRequest) => object> = {
  judge,
  pretend_user: playUser,
  keep_memory: keepMemory,
  draft_scenarios: draftScenarios,
  improve,
  interview,
};

const inShape = ({ outputSchema }: ModelRequest, answer: object) =>
  outputSchema ? fillSchema(outputSchema, () => undefined, { hint: answer }) : answer;

const say = (text: string): Decision => ({ text, calls: [] });
const call = (tool: ToolDefinition, given: unknown): Decision => ({
  text: '',
  calls: [{ name: tool.name, arguments: given }],
});

/** Matching tools first, then longer tasks, then notebooks and memory. */
function nextCall(request: ModelRequest, situation: Situation): Decision | null {
  const { asked, question, done } = situation;
  const isDone = (name: string) => done.some((each) => each.call.name === name);
  if (done.length >= mostCalls || ['hand_off_to_work', 'pass_on_answer', 'stop_work', 'finish'].some(isDone))
    return null;
  // A lookup comes last: its result answers the question and triggers nothing.
  if (done.some(({ call: { name } }) => knowledgeTools.includes(name))) return null;
  const wanted = toolsFor(request, situation).find(({ tool }) => !isDone(tool.name));
  if (done.length === 0 && !wanted?.isNamed) {
    const passedOn = passOn(request, situation);
    if (passedOn) return passedOn;
    if (ofOwnKnowledge(request, situation) !== null) return null;
  }
  if (wanted) {
    const decision = callTool(request, situation, wanted);
    if (decision) return decision;
  }
  const handOff = toolNamed(request, 'hand_off_to_work');
  if (handOff && done.length === 0 && isLongWork(asked) && !isQuestion(question)) {
    return call(handOff, fillSchema(handOff.inputSchema, textKnowledge(asked), { isSparse: true }));
  }
  if (done.length > 0 || isAboutItself(question)) return null;
  const sources = knowledgeTools.map((name) => toolNamed(request, name)).filter((tool) => tool !== undefined);
  if (sources.length === 0) return null;
  return {
    text: '',
    calls: sources.map(({ name, inputSchema }) => ({
      name,
      arguments: fillSchema(inputSchema, textKnowledge(question || asked), { isSparse: true }),
    })),
  };
}

/** An answer goes to the newest open question, and a task can be stopped. */
function passOn(request: ModelRequest, { question, openQuestions, openWork }: Situation): Decision | null {
  if (isQuestion(question) || isAboutItself(question)) return null;
  const [answer, stop] = ['pass_on_answer', 'stop_work'].map((name) => toolNamed(request, name));
  if (stop && openWork.length === 1 && isStop.test(question)) return call(stop, { work: 1 });
  return answer && openQuestions.length > 0 ? call(answer, { question: openQuestions.length }) : null;
}

const isStop = /^\s*(?:please\s+)?(?:stop|cancel|abort|never ?mind|forget|halt|stopp\w*|brich|para|cancela)\b/iu;

const toolNamed = (request: ModelRequest, name: string) => request.tools.find((tool) => tool.name === name);

/** An answer to "To use `x` I need …" continues with that tool. */
function toolsFor(request: ModelRequest, { asked, earlier }: Situation): WantedTool[] {
  const fitting = fittingTools(asked, request.tools);
  const before = request.messages.findLast(
    ({ role }, index) => role === 'agent' && index < request.messages.length - 1,
  );
  const pending = toolNamed(request, /^To use `([^`]+)` I need/m.exec(textOf(before))?.[1] ?? '');
  if (!pending || fitting.length > 0) return fitting;
  return [{ tool: pending, part: `${asked}\n${earlier[0] ?? ''}`, isNamed: true, isAnswer: true }];
}

function callTool(
  request: ModelRequest,
  situation: Situation,
  { tool, part, isNamed, isAnswer }: WantedTool,
): Decision | null {
  const answers = outputsOf(situation, 'ask_question');
  const facts = factsFor(request, situation, [...answers, part]);
  const { filled, missing } = fillArguments(tool.inputSchema, facts, situation.asked);
  if (tool.name === 'remember') return call(tool, { ...filled, text: asFact(part) });
  const [only] = missing;
  const bare = answers.at(-1) ?? (isAnswer ? situation.asked : undefined);
  if (only !== undefined && missing.length === 1 && bare !== undefined) {
    const value = bareAnswer(bare, nodeOf(nodeOf(tool.inputSchema.properties)[only]));
    const whole = { ...filled, [only]: value };
    if (value !== undefined && fits(tool.inputSchema, whole, tool.inputSchema)) return call(tool, whole);
  }
  // Constraints over several arguments cannot be asked for, so such a call is skipped.
  if (missing.length === 0) return fits(tool.inputSchema, filled, tool.inputSchema) ? call(tool, filled) : null;
  // A question that only shares words with a tool goes to the notebooks: "What is your returns policy?" starts no
  // return.
  if (!isNamed && part.trim().endsWith('?')) return null;
  return askFor(request, tool, missing, answers.length > 0);
}

/** The whole answer to a question for one value is that value. */
function bareAnswer(answer: string, schema: Parameters<typeof typesOf>[0]): unknown {
  const types = typesOf(schema);
  const text = answer.trim().replace(/[.!]$/, '');
  if (types.includes('number') || types.includes('integer'))
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  const isShort = text.length > 0 && text.length < 200;
  if (types.includes('string') && !schema.enum && isShort) return text;
  if (types.includes('array') && typesOf(nodeOf(schema.items)).includes('string') && isShort) return [text];
  return undefined;
}

function askFor(request: ModelRequest, tool: ToolDefinition, missing: string[], hasAsked: boolean): Decision | null {
  const properties = nodeOf(tool.inputSchema.properties);
  const wanted = missing.map((name) => {
    const { description, enum: options } = nodeOf(properties[name]);
    const choices = Array.isArray(options) ? ` (${options.join(', ')})` : '';
    return `${name.replaceAll('_', ' ')}${choices}${typeof description === 'string' ? `: ${description.replace(/\.$/, '')}` : ''}`;
  });
  const question = `To use \`${tool.name}\` I need the ${wanted.join('; ')}. What is it?`;
  const ask = toolNamed(request, 'ask_question');
  if (ask && !hasAsked) return call(ask, fillSchema(ask.inputSchema, textKnowledge(question), { isSparse: true }));
  // Text would not be the requested JSON.
  return request.outputSchema ? null : say(question);
}

function conclude(request: ModelRequest, situation: Situation): Decision {
  const answer = answerOf(request, situation);
  if (request.outputSchema)
    return say(JSON.stringify(fillSchema(request.outputSchema, knowledgeOf(request, situation, answer))));
  const finish = toolNamed(request, 'finish');
  if (finish && !situation.done.some((each) => each.call.name === 'finish')) {
    const known = knowledgeOf(request, situation, withNotice(answer, request, situation));
    return call(finish, fillSchema(finish.inputSchema, known, { isSparse: true }));
  }
  return say(withNotice(answer, request, situation));
}

const answerNames = /^(answer|reply|text|summary|result|message|output|response|explanation|content)$/i;

/** For structured answers: the answer itself, or the facts for each part. */
function knowledgeOf(request: ModelRequest, situation: Situation, answer: string): Knowledge {
  const facts = factsFor(request, situation, [situation.asked]);
  const taken = new Set<string>();
  const known = new Map<string, unknown>();
  return (name, schema) => {
    if (answerNames.test(name) && typesOf(schema).includes('string')) return answer;
    if (!known.has(name)) {
      const value = valueFor(name, schema, facts, { root: {}, taken, isRequired: true, request: situation.asked });
      known.set(name, value);
      taken.add(String(value));
    }
    return known.get(name);
  };
}

const openNames =
  /^(questions?|query|q|text|task|goal|title|brief|instructions?|description|message|request|prompt|summary|search|header|input)$/i;

/** For tools with a fixed role: the text fills every text argument. */
const textKnowledge =
  (text: string): Knowledge =>
  (name, schema) => {
    const types = typesOf(schema);
    if (types.includes('array') && openNames.test(name))
      return typesOf(nodeOf(schema.items)).includes('string') ? [text] : undefined;
    if (types.length > 0 && !types.includes('string')) return undefined;
    return openNames.test(name) ? cut(text, schema.maxLength) : undefined;
  };

const cut = (text: string, longest: unknown) =>
  typeof longest === 'number' ? [...text].slice(0, longest).join('') : text;

function factsFor({ system }: ModelRequest, situation: Situation, nearest: string[]): Facts {
  const results = situation.done.filter(({ result }) => !result.isError).map(({ result }) => result.output);
  const today = /\b(?:today|date|now)\b[^\n]{0,40}?(\d{4}-\d\d-\d\d)/i.exec(system.join('\n'))?.[1] ?? null;
  const before = situation.doneBefore.filter(({ result }) => !result.isError).map(({ result }) => result.output);
  const texts = [...nearest, situation.asked, ...results, ...situation.earlier.slice(0, 10)];
  return factsOf([...new Set(texts)], today, before);
}

const outputsOf = ({ done }: Situation, name: string) =>
  done.filter((each) => each.call.name === name && !each.result.isError).map((each) => each.result.output);

const isLongWork = (text: string) =>
  text.length > 600 ||
  /\b(research|investigate|reports?|analy[sz]e|compare|monitor|spreadsheet|presentation|draft|prepare|collect|gather|crawl|scrape|in the background|step by step|for each|go through|build|migrate)\b/i.test(
    text,
  );
