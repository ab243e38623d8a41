import { createHash } from 'node:crypto';
import {
  type CallToolRequest,
  type CallToolRequestOptions,
  type CallToolResult,
  type Client,
  isInputRequiredResult,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { type Answering, answersTo } from './answer-server.ts';
import {
  type AnsweredQuestions,
  type AskedQuestions,
  answeredIn,
  type QuestionAnswer,
  questionOf,
  type ServerQuestion,
} from './server-question.ts';
import { createTaskNote, type UnderWay } from './tasks.ts';

type Params = CallToolRequest['params'];
/** What the tool said, what it wants to know first, or that it goes on without us. */
export type Outcome = { result: CallToolResult } | { asked: AskedQuestions } | { underWay: UnderWay };
type Hide = (text: string) => string;

/** A server may answer with nothing but a state to come back with, or ask a model again and again. */
const mostRounds = 10;
const largestState = 64 * 1024;

/**
 * The protocol from 2026 on: a call that needs an answer ends with its questions and a state, and is made again with the
 * answers and that state. Nothing is held open, so it does not matter how long the person takes, or which process goes on.
 */
export async function inRounds(
  client: Client,
  params: Params,
  options: CallToolRequestOptions,
  answering: Answering,
): Promise<Outcome> {
  let answers = answering.asking ? answeredIn(answering.asking) : {};
  let state = answering.asking?.state ?? null;
  const task = createTaskNote();
  task.listenTo(client);
  for (let round = 0; round < mostRounds; round++) {
    const result: unknown = await client.callTool(
      {
        ...params,
        ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
        ...(state !== null && { requestState: state }),
      } as Params,
      { ...options, allowInputRequired: true },
    );
    const underWay = task.taken();
    if (underWay) return { underWay };
    if (!isInputRequiredResult(result)) return { result: result as CallToolResult };
    state = result.requestState ?? null;
    if (state !== null && state.length > largestState) throw new Error('The state of the call is too large.');
    const { questions, given } = await answersTo(Object.entries(result.inputRequests ?? {}), answering);
    if (Object.keys(questions).length > 0) return { asked: { questions, given, state, isHeld: false } };
    answers = given;
  }
  throw new Error('The server goes round in circles.');
}

/**
 * The protocol before: the server asks in the middle of a call, and waits. A question that was answered before, in an
 * earlier attempt at the call, gets that answer; another one is told that nobody chose anything, and is put to the person.
 */
export function createHeldQuestions({ answers, hide }: { answers: AnsweredQuestions['answers']; hide: Hide }) {
  const questions: Record<string, ServerQuestion> = {};
  return {
    questions,
    wasCancelled: () => Object.values(questions).some(({ mode }) => mode === 'form'),
    hide,
    answers,
    listenTo(client: Client): void {
      client.setRequestHandler('elicitation/create', ({ params }): QuestionAnswer => {
        const question = questionOf(params, hide);
        if (!question) return { action: 'decline' };
        const key = nameOf(question);
        const known = answers[key];
        if (known) return known;
        questions[key] = question;
        return { action: 'cancel' };
      });
    },
  };
}

export async function heldOpen(
  { questions, answers, hide }: ReturnType<typeof createHeldQuestions>,
  call: () => Promise<CallToolResult>,
): Promise<Outcome> {
  try {
    const result = await call();
    return Object.keys(questions).length > 0
      ? { asked: { questions, given: {}, state: null, isHeld: true } }
      : { result };
  } catch (error) {
    // The server has done nothing, and says where the person has to go before the call is made again.
    if (error instanceof UrlElicitationRequiredError) {
      const wanted = error.elicitations.flatMap((each) => questionOf({ ...each, mode: 'url' }, hide) ?? []);
      const open = wanted.map((each) => [nameOf(each), each] as const).filter(([key]) => !answers[key]);
      if (open.length > 0)
        return { asked: { questions: Object.fromEntries(open), given: {}, state: null, isHeld: true } };
    }
    if (Object.keys(questions).length > 0) return { asked: { questions, given: {}, state: null, isHeld: true } };
    throw error;
  }
}

/** The same question of another attempt has the same name. */
const nameOf = (question: ServerQuestion) =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 22);
