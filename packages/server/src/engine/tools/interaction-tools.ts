import type { InteractionDraft } from '@vestra/agent/interaction';
import { askingTool, handingTool, type OwnTool, text } from '@vestra/agent/own-tool';
import { z } from 'zod';

const day = 24 * 60 * 60;

const question = z.strictObject({
  question: text('The question, in the person’s language.', 1000),
  header: z.string().max(60).describe('A word or two above the question.').optional(),
  options: z
    .array(z.string().min(1).max(200))
    .max(8)
    .describe('Answers to choose from. The person may still write another.')
    .optional(),
  multi_select: z.boolean().describe('More than one option may be chosen.').optional(),
});
type QuestionInput = z.output<typeof question>;

const askInput = question.extend({
  also: z.array(question).max(3).describe('Further questions to answer together with the first.').optional(),
  in_person: z
    .boolean()
    .describe('True before an action on the computer that the person must approve in person: a yes or no.')
    .optional(),
});

export const askQuestion = (): OwnTool =>
  askingTool(
    {
      name: 'ask_question',
      description: 'Ask the person something that you cannot go on without, and wait for the answer.',
      input: askInput,
      isReadOnly: true,
    },
    questionDraft,
  );

function questionDraft({
  also = [],
  in_person: isInPerson = false,
  ...first
}: z.output<typeof askInput>): InteractionDraft {
  const summary = cut(first.question, 120);
  if (isInPerson) {
    return {
      kind: 'hands_approval',
      type: 'approval',
      summary,
      moves_money: false,
      requires_present_user: true,
      details: { question: first.question },
      expires_in_s: day,
    };
  }
  return {
    kind: 'ask_question',
    type: 'question',
    summary,
    moves_money: false,
    requires_present_user: false,
    questions: [first, ...also].map(asQuestion),
    details: {},
    expires_in_s: 7 * day,
  };
}

const asQuestion = ({ question: asked, header = '', options = [], multi_select = false }: QuestionInput) => ({
  question: asked,
  header,
  options,
  multi_select,
});

/** Used if the model does not set `asks_for_secret`. */
const secretWords =
  /\b(pass ?(word|code|phrase)|one[- ]time|verification code|security code|otp|2fa|pin|card (number|details)|cvc|cvv)s?\b/i;

const handoffInput = z.strictObject({
  request: text('What they should do, in their language.', 1000),
  asks_for_value: z.boolean().describe('True where they should tell you a value, such as a code.').optional(),
  asks_for_secret: z
    .boolean()
    .describe('True where they enter a password, a one-time code or card details: the screen is then private.')
    .optional(),
});

export const requestHandoff = (): OwnTool =>
  askingTool(
    {
      name: 'request_handoff',
      description:
        'Have the person do one thing that only they can do, such as signing in, and wait until they say so.',
      input: handoffInput,
      isReadOnly: true,
    },
    ({ request, asks_for_value: asksForValue = false, asks_for_secret: asksForSecret = secretWords.test(request) }) => {
      return {
        kind: 'ask_question',
        type: 'handoff',
        summary: cut(request, 120),
        moves_money: false,
        requires_present_user: false,
        questions: [asQuestion({ question: request })],
        details: { asks_for_value: asksForValue, asks_for_secret: asksForSecret },
        expires_in_s: 7 * day,
      };
    },
  );

const workInput = z.strictObject({
  title: text('A name for the work, a few words.', 120),
  task: text('What is to be done, with everything that was said about it.', 8000),
});

export const handOffToWork = (): OwnTool =>
  handingTool({
    name: 'hand_off_to_work',
    description: 'Hand the message over to work that takes many steps. Say in one line what you are starting.',
    input: workInput,
    isReadOnly: true,
  });

/** Counts UTF-16 units as the contract does, and never splits a surrogate pair. */
function cut(given: string, length: number): string {
  const line = given.replace(/\s+/gu, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export type ConnectableApp = { id: string; name: string };

const connectInput = z.strictObject({
  app: z.string().describe('The app.'),
  reason: text('What you need it for, in the person’s language, in one short sentence.', 100).optional(),
});

/** Asks the person to sign in to an app that is not connected. The run then continues with the app's tools. */
export const connectApp = (apps: readonly ConnectableApp[], userId: string | null): OwnTool =>
  askingTool(
    {
      name: 'connect_app',
      description:
        'Ask the person to connect one of their apps, where what they want needs it, and wait until they have. You have its tools then.',
      input: connectInput,
      options: { app: apps.map(({ id }) => id) },
      isReadOnly: true,
    },
    ({ app, reason }) => connectDraft(apps.find(({ id }) => id === app) ?? { id: app, name: app }, userId, reason),
  );

/** Waits for a sign-in. Only the sign-in resolves it, never an answer. */
export function connectDraft({ id, name }: ConnectableApp, userId: string | null, reason?: string): InteractionDraft {
  return {
    kind: 'connector_auth',
    type: 'connect',
    summary: cut(`Connect ${name}. ${reason ?? ''}`, 120),
    moves_money: false,
    requires_present_user: false,
    details: {
      app: id,
      name,
      connect: { route: 'POST /v1/connections', body: { app: id, ...(userId !== null && { user_id: userId }) } },
    },
    expires_in_s: 7 * day,
  };
}
