import { asksForCredential } from '@vestra/agent/credential';
import type { InteractionDraft } from '@vestra/agent/interaction';
import type {
  AnsweredQuestions,
  AskedQuestions,
  FieldValue,
  FormField,
  QuestionAnswer,
  ServerQuestion,
  TaskHandle,
} from '../mcp-client/server-requests.ts';

/** State of a call while the person answers its questions one by one. */
export type KeptQuestions = AskedQuestions & {
  answers: Record<string, QuestionAnswer>;
  /** The key of the current question. */
  asking: string;
  /** The number of times the person was asked. */
  attempt: number;
  /** Notes for the model on refused questions. */
  notes: string[];
};

/** The outcome of the interaction. */
export type QuestionOutcome = { decision: string | null; reason: string | null; answers: readonly string[] | null };

export type NextQuestion =
  | { kind: 'ask'; draft: InteractionDraft; kept: KeptQuestions }
  /** `task` is the task that gets the answers. Absent if the call gets them. */
  | { kind: 'resume'; asking: AnsweredQuestions; notes: readonly string[]; task?: TaskHandle | undefined };

type Server = { slug: string; tool: string; refuseAddress: (url: string) => string | null };

const maxAttempts = 3;
const week = 7 * 24 * 60 * 60;

/** Returns the first question for the person, or all answers if none is left. */
export function nextQuestion(
  asked: AskedQuestions,
  server: Server,
  before: { answers: AnsweredQuestions['answers']; notes: readonly string[] },
): NextQuestion {
  // In rounds, a key may mean a different question than in the previous round.
  const answers = asked.isHeld ? { ...before.answers } : {};
  return nextOpenQuestion({ ...asked, answers, asking: '', attempt: 0, notes: [...before.notes] }, server);
}

/** Continues after the person answered or declined. */
export function resumeWithAnswer(kept: KeptQuestions, outcome: QuestionOutcome, server: Server): NextQuestion {
  const question = kept.questions[kept.asking];
  if (!question) return nextOpenQuestion(kept, server);
  const read = readAnswer(question, outcome);
  if ('faults' in read && kept.attempt < maxAttempts) {
    return { kind: 'ask', draft: draftOf(question, server, read.faults), kept: { ...kept, attempt: kept.attempt + 1 } };
  }
  const answer: QuestionAnswer = 'faults' in read ? { action: 'cancel' } : read;
  return nextOpenQuestion({ ...kept, answers: { ...kept.answers, [kept.asking]: answer } }, server);
}

function nextOpenQuestion(kept: KeptQuestions, server: Server): NextQuestion {
  const answers = { ...kept.answers };
  const notes = [...kept.notes];
  for (const [key, question] of Object.entries(kept.questions)) {
    if (Object.hasOwn(answers, key)) continue;
    const refusal = refusalOf(question, server);
    if (refusal === null) {
      const next = { ...kept, answers, notes, asking: key, attempt: 1 };
      return { kind: 'ask', draft: draftOf(question, server, []), kept: next };
    }
    answers[key] = { action: 'decline' };
    notes.push(refusal);
  }
  return { kind: 'resume', asking: { answers, given: kept.given, state: kept.state }, notes, task: kept.task };
}

/** Refuses questions that no server may ask: credentials, and addresses that are not allowed. */
function refusalOf(question: ServerQuestion, { refuseAddress }: Server): string | null {
  if (question.mode === 'url') {
    return refuseAddress(question.url) === null
      ? null
      : 'The server wanted to send the person to an address that is refused. The server got a refusal.';
  }
  const texts = Object.entries(question.fields).flatMap(([name, { title, description }]) => [name, title, description]);
  return [question.message, ...texts].some(asksForCredential)
    ? 'The server asked the person for a password, a secret or card details. Vestra never asks for these: the server got a refusal.'
    : null;
}

function draftOf(question: ServerQuestion, { slug, tool }: Server, faults: readonly string[]): InteractionDraft {
  const about = { moves_money: false, requires_present_user: false, expires_in_s: week };
  const details = { server: slug, tool_name: tool, asked_by: 'server', mode: question.mode };
  if (question.mode === 'url') {
    const { host } = new URL(question.url);
    const request = `${question.message}\n\n${question.url}`.trim();
    return {
      ...about,
      kind: 'ask_question',
      type: 'handoff',
      summary: cut(`${slug} asks you to open ${host}: ${question.message}`, 120),
      questions: [{ question: request, header: slug, options: [], multi_select: false }],
      details: { ...details, url: question.url, host, asks_for_value: false, asks_for_secret: false },
    };
  }
  const fields = Object.entries(question.fields);
  const questions = fields.map(([name, field], at) => ({
    question: [
      ...(at === 0 ? [...faults, question.message] : []),
      questionText(name, field, question.required.includes(name)),
    ]
      .filter((line) => line !== '')
      .join('\n\n'),
    header: slug,
    options: field.type === 'boolean' ? [...yesAndNo] : field.options.map(({ label }) => label),
    multi_select: field.type === 'choices',
  }));
  const confirmation = {
    question: question.message || 'Go on?',
    header: slug,
    options: [...yesAndNo],
    multi_select: false,
  };
  return {
    ...about,
    kind: 'ask_question',
    type: 'question',
    summary: cut(`${slug} asks: ${question.message || (fields[0]?.[0] ?? '')}`, 120),
    questions: questions.length > 0 ? questions : [confirmation],
    details,
  };
}

const yesAndNo = ['Yes', 'No'] as const;

function questionText(name: string, field: FormField, isRequired: boolean): string {
  const { title, description, minimum, maximum, default: usual } = field;
  const range = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(usual === undefined ? [] : [`${shownDefault(usual, field)} if left empty`]),
    ...(isRequired || usual !== undefined ? [] : ['may be left empty']),
  ];
  const label = `${title || name}${range.length > 0 ? ` (${range.join(', ')})` : ''}`;
  return description === '' ? label : `${label}: ${description}`;
}

/** A choice is shown by its label. */
const shownDefault = (usual: FieldValue, { options }: FormField): string =>
  [usual]
    .flat()
    .map((value) => options.find((option) => option.value === value)?.label ?? String(value))
    .join(', ');

/** Returns the answer for the server, or the faults in the person's input. */
function readAnswer(question: ServerQuestion, outcome: QuestionOutcome): QuestionAnswer | { faults: string[] } {
  if (outcome.decision !== 'answered') return { action: outcome.reason === 'not_now' ? 'cancel' : 'decline' };
  if (question.mode === 'url') return { action: 'accept' };
  const given = outcome.answers ?? [];
  const fields = Object.entries(question.fields);
  if (fields.length === 0) return asYes(given[0] ?? '') ? { action: 'accept', content: {} } : { action: 'decline' };
  const content: Record<string, FieldValue> = {};
  const faults: string[] = [];
  for (const [at, [name, field]] of fields.entries()) {
    const written = (given[at] ?? '').trim();
    if (written === '' && field.default !== undefined) {
      content[name] = field.default;
      continue;
    }
    if (written === '' && !question.required.includes(name)) continue;
    const value = readField(written, field);
    if (value === null) faults.push(`“${cut(written, 60)}” does not fit “${field.title || name}”.`);
    else content[name] = value;
  }
  return faults.length > 0 ? { faults } : { action: 'accept', content };
}

function readField(written: string, field: FormField): string | number | boolean | string[] | null {
  switch (field.type) {
    case 'string':
      return written === '' ? null : written;
    case 'boolean':
      return asYes(written) ? true : /^(no|n|false|0)$/i.test(written) ? false : null;
    case 'number':
    case 'integer': {
      const value = Number(written);
      const fits = written !== '' && Number.isFinite(value) && (field.type === 'number' || Number.isInteger(value));
      return fits && value >= (field.minimum ?? value) && value <= (field.maximum ?? value) ? value : null;
    }
    case 'choice':
      return chosen(written, field);
    case 'choices': {
      const all = written.split(', ').map((each) => chosen(each.trim(), field));
      return all.includes(null) ? null : (all as string[]);
    }
  }
}

const chosen = (written: string, { options }: FormField) =>
  options.find(({ value, label }) => label === written || value === written)?.value ?? null;

const asYes = (written: string) => /^(yes|y|true|1)$/i.test(written.trim());

const cut = (text: string, longest: number) => {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
};
