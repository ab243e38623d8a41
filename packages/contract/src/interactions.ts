import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id, idPattern } from './ids.ts';
import { anyDetails, type InteractionDetails, interactionDetails } from './interaction-details.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { type Capability, shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';
import { approvers } from './tool-entry.ts';
import { userId } from './user-id.ts';

export const interactionKinds = [
  'ask_question',
  'connector_auth',
  'tool_permission',
  'credit_approval',
  'exit_plan',
  'hands_approval',
  'plan_limit',
  'custom',
] as const;

const interactionTypes = ['approval', 'question', 'connect', 'handoff', 'tool_call'] as const;
type InteractionType = (typeof interactionTypes)[number];
const interactionStatuses = ['pending', 'resolved', 'cancelled', 'expired'] as const;
const interactionNeeds = ['present_user', 'nonce', 'connection', 'installation'] as const;
export type InteractionNeed = (typeof interactionNeeds)[number];
const handoffDecisions = ['done', 'could_not', 'not_now'] as const;

/** A call of a caller's tool keeps its `call_` id; every other interaction has an `int_` id. */
export const interactionId = () =>
  z
    .string()
    .regex(
      new RegExp(`${idPattern('int').source}|${idPattern('call').source}`),
      'Must look like int_ or call_ followed by 24 characters.',
    );

const shownInteraction = z.object({
  object: tag('interaction'),
  id: interactionId().describe('`int_…`, or `call_…` where it is a call of one of your own functions.'),
  user_id: userId().nullable().describe('The user it concerns; null: the org’s own agent.'),
  task_id: id('task').nullable().describe('The work that waits; null where the reply does.'),
  conversation_id: id('conv').nullable().describe('The conversation that waits.'),
  kind: z
    .enum(interactionKinds)
    .describe(
      'What made it wait: a question, an app to connect, a tool, money, a plan, an action in person, a limit, or `custom` as `details.renderer` says.',
    ),
  type: z
    .enum(interactionTypes)
    .describe(
      'Which answer it takes: a yes or no, answers, a connected app, a word that it is done, or the result of a function.',
    ),
  status: z.enum(interactionStatuses).describe('`pending` until it is answered, withdrawn or too old.'),
  summary: z.string().describe('One line to show the person, at most 120 characters.'),
  moves_money: z
    .boolean()
    .nullable()
    .describe('Whether saying yes spends money; null for a call of one of your own functions.'),
  requires_present_user: z
    .boolean()
    .describe('Whether the yes must come from a person who is there: send `present_user: true` with it.'),
  approver: z
    .enum(approvers)
    .optional()
    .describe('Of an approval, who says yes: the user, or the org by a key or a member.'),
  needs: z
    .array(z.enum(interactionNeeds))
    .describe(
      'What a yes must bring: `present_user: true`, the `nonce`. `connection`, `installation`: it is done elsewhere, and no yes is taken.',
    ),
  nonce: z.string().optional().describe('Of a `hands_approval`: send it back with the yes.'),
  questions: z
    .array(
      z.object({
        question: z.string().describe('The question itself.'),
        header: z.string().describe('A word or two above it; may be empty.'),
        options: z.array(z.string()).describe('Answers to choose from; empty: any text.'),
        multi_select: z.boolean().describe('Whether several options may be chosen, joined by a comma.'),
      }),
    )
    .optional()
    .describe('What is asked, where it is a question or a hand-off.'),
  frame_url: z.string().optional().describe('Of a hand-off read alone: the page as a JPEG data URI.'),
  browser: z
    .object({
      suggested_mode: z.literal('control').describe('The `screen` to open the session with.'),
      url: z.string().nullable().describe('The page it is about; null where none is open.'),
    })
    .optional()
    .describe('Of a hand-off in the browser: open a session with a screen so that a person can do it.'),
  details: anyDetails,
  taken_until: time
    .optional()
    .describe('Of a pending call of your function: until when the process that answers it has it; absent: nobody has.'),
  outcome: z
    .object({
      decision: z
        .enum(['approved', 'denied', 'answered', 'cancelled', 'expired'])
        .describe('What was decided, or that nobody did in time.'),
      answers: z.array(z.string()).optional().describe('The answers in the order of the questions.'),
      reason: z.string().optional().describe('Why, where the one who answered said so.'),
      message: z.string().optional().describe('What the agent was told of it.'),
    })
    .nullable()
    .describe('How it ended; null while it waits.'),
  created_at: createdAt,
  expires_at: time.nullable().describe('When it ends by itself; null: never.'),
  resolved_at: time.nullable().describe('When it ended; null while it waits.'),
});

type Shown = z.output<typeof shownInteraction>;
type ByType = {
  [Type in InteractionType]: Omit<Shown, 'type' | 'details'> & { type: Type; details: InteractionDetails[Type] };
};

/** The `type` determines the `details`. The server writes them as they are stored. */
export const interaction = shownInteraction
  .refine(({ type, details }) => interactionDetails[type].strict().safeParse(details).success, {
    error: 'The details are not those of the type.',
    path: ['details'],
  })
  .describe('Something that the agent waits on.') as unknown as z.ZodType<
  ByType[InteractionType],
  Omit<z.input<typeof shownInteraction>, 'details'> & { details: Record<string, unknown> }
>;

/**
 * The capabilities that a session needs to see and answer an interaction of a type in its own conversation. Calls of
 * the company's code are never shown.
 */
export const sessionInteractions: Readonly<Record<InteractionType, readonly Capability[]>> = {
  approval: ['chat'],
  question: ['chat'],
  connect: ['chat'],
  handoff: ['chat', 'screen'],
  tool_call: [],
};

const askedOfPerson = {
  ...shown('summary', 'nonce', 'frame_url'),
  questions: shown('question', 'header', 'options', 'multi_select'),
  browser: shown('suggested_mode', 'url'),
  details: {
    ...shown(
      'tool_name',
      'server',
      'category',
      'price_usd',
      'description',
      'more_rows',
      'renderer',
      'title',
      'question',
      'asks_for_value',
    ),
    ...shown('app', 'name', 'reason'),
    rows: shown('label', 'title', 'value'),
  },
  outcome: shown('decision', 'answers', 'reason'),
};

/**
 * For calls of the company's code and approvals by the company, a session only sees the state: `summary` and `rows`
 * would quote the arguments. An approval without an approver counts as the company's.
 */
export const interactionSeen = {
  always: {
    ...shown('object', 'id', 'user_id', 'task_id', 'conversation_id', 'kind', 'type', 'status'),
    ...shown('moves_money', 'requires_present_user', 'approver', 'needs', 'created_at', 'expires_at', 'resolved_at'),
  },
  byType: {
    approval: { outcome: shown('decision') },
    'approval.user': askedOfPerson,
    question: askedOfPerson,
    connect: askedOfPerson,
    handoff: askedOfPerson,
    tool_call: { details: shown('tool_name', 'renderer'), outcome: shown('decision') },
  } satisfies Record<InteractionType, unknown> & Record<string, unknown>,
  narrowedBy: 'approver',
};

/** The type of the interaction determines which of these fields it accepts. */
export const answerFields = {
  approve: z
    .boolean()
    .optional()
    .describe('Of an approval: true for yes, false for no. False also declines a question.'),
  answers: z
    .array(text(0, 32_000))
    .max(100, 'At most 100 answers.')
    .optional()
    .describe('One answer per question, in order.'),
  decision: failsWith('decision_not_expected', z.enum(handoffDecisions))
    .optional()
    .describe('Of a hand-off: how it went.'),
  output: z.unknown().optional().describe('What the caller’s tool returned.'),
  error: text(1, 32_000).optional().describe('Why the caller’s tool failed.'),
  present_user: z.boolean().optional().describe('The yes comes from a person who is present.'),
  nonce: text(1, 200).optional().describe('Of an approval in person: the `nonce` that the interaction shows.'),
};

const interactionParams = z.strictObject({
  interaction_id: failsWith('interaction_not_found', interactionId()).describe(
    'The id of an interaction, `int_…`, or of a call of your function, `call_…`.',
  ),
});

export const interactions = {
  list: route({
    method: 'GET',
    path: '/v1/interactions',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List what the agent waits on, calls to the caller’s own tools included.',
    description: 'Needs scope `runtime`. Listen to `interaction.created` rather than poll.',
    query: z.strictObject({
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Only those of this conversation.'),
      task_id: failsWith('invalid_task_id', id('task')).optional().describe('Only those of this piece of work.'),
      type: z
        .enum(interactionTypes)
        .optional()
        .describe('Only those that take this answer; `tool_call` for calls of your functions alone.'),
      kind: z.enum(interactionKinds).optional().describe('Only those of this kind.'),
      approver: z.enum(approvers).optional().describe('Approvals that wait for the user, or for the org.'),
      status: z
        .enum(interactionStatuses)
        .default('pending')
        .describe('Only those in this state; the open ones unless said.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(interaction),
    errors: ['invalid_conversation_id', 'invalid_task_id'],
    command: 'interactions list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/interactions/{interaction_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat', 'screen'], sends: [], sees: interactionSeen },
    summary: 'Show an interaction; a hand-off carries a picture of the page.',
    description:
      'Open to a session token of the same conversation. `questions`, `browser` and `details` say what to show; `type` says what to answer.',
    params: interactionParams,
    status: 200,
    response: interaction,
    errors: [],
    command: 'interactions get',
  }),
  answer: route({
    method: 'POST',
    path: '/v1/interactions/{interaction_id}/answer',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['chat', 'screen'],
      sends: ['approve', 'answers', 'decision', 'present_user', 'nonce'],
      sees: interactionSeen,
    },
    summary: 'Answer an interaction with the body its type takes.',
    description:
      'Approval: `approve`. Question: `answers`, one for each. Hand-off: `decision`, or `answers` where it asks for a value. Your function: `output` or `error`. An app is connected with `POST /v1/connections` in place of an answer. Of two answers at once one counts; the other hears `already_answered`.',
    params: interactionParams,
    body: z.strictObject(answerFields),
    bodyOptional: true,
    status: 200,
    response: interaction,
    errors: [
      'answer_mismatch',
      'answers_mismatch',
      'answers_not_expected',
      'answers_required',
      'connect_app_instead',
      'decision_not_expected',
      'install_ability_instead',
      'nonce_mismatch',
      'present_user_required',
      'already_answered',
      'interaction_expired',
    ],
    command: 'interactions answer',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/interactions/{interaction_id}/cancel',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Withdraw an interaction; the task carries on without that action.',
    description:
      'For a question that has become pointless. The agent hears that nobody answered and goes on; an approval that is withdrawn counts as a no.',
    params: interactionParams,
    status: 200,
    response: interaction,
    errors: ['already_answered', 'interaction_expired'],
    command: 'interactions cancel',
  }),
};
