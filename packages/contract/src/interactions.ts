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
      'Must look like int_ or call_ followed by 24 characters: copy the whole id.',
    );

const shownInteraction = z.object({
  object: tag('interaction'),
  id: interactionId().describe('`int_…`, or `call_…` for a call of one of your functions.'),
  user_id: userId().nullable().describe('The user of the interaction; null: the org’s own agent.'),
  task_id: id('task').nullable().describe('The task that waits; null if the reply waits.'),
  conversation_id: id('conv').nullable().describe('The conversation that waits.'),
  kind: z
    .enum(interactionKinds)
    .describe(
      'The reason for waiting: a question, an app to connect, a tool, money, a plan, an action in person, a limit, or `custom` with `details.renderer`.',
    ),
  type: z
    .enum(interactionTypes)
    .describe(
      'The kind of answer it accepts: approval or denial, answers, a connected app, a confirmation, or the result of a function.',
    ),
  status: z.enum(interactionStatuses).describe('`pending` until it is answered, withdrawn or expired.'),
  summary: z.string().describe('One line to show the user, at most 120 characters.'),
  moves_money: z
    .boolean()
    .nullable()
    .describe('Whether approval spends money; null for a call of one of your functions.'),
  requires_present_user: z
    .boolean()
    .describe('Whether the approval must come from a present user: send `present_user: true` with it.'),
  approver: z
    .enum(approvers)
    .optional()
    .describe('For an approval, who decides: the user, or the org through a key or a member.'),
  needs: z
    .array(z.enum(interactionNeeds))
    .describe(
      'What an approval must contain: `present_user: true`, the `nonce`. `connection`, `installation`: it is done elsewhere and accepts no approval.',
    ),
  nonce: z.string().optional().describe('For a `hands_approval`: send it back with the approval.'),
  questions: z
    .array(
      z.object({
        question: z.string().describe('The text of the question.'),
        header: z.string().describe('A short heading; may be empty.'),
        options: z.array(z.string()).describe('Answers to choose from; empty: any text.'),
        multi_select: z.boolean().describe('Whether several options may be chosen, joined by a comma.'),
      }),
    )
    .optional()
    .describe('The questions, for a question or a hand-off.'),
  frame_url: z.string().optional().describe('For a hand-off that is read alone: the page as a JPEG data URI.'),
  browser: z
    .object({
      suggested_mode: z.literal('control').describe('The `screen` value for the session.'),
      url: z.string().nullable().describe('The page in question; null if none is open.'),
    })
    .optional()
    .describe('For a hand-off in the browser: create a session with a screen so that a person can do it.'),
  details: anyDetails,
  taken_until: time
    .optional()
    .describe('For a pending call of your function: until when a process has claimed it; absent: none has.'),
  outcome: z
    .object({
      decision: z
        .enum(['approved', 'denied', 'answered', 'cancelled', 'expired'])
        .describe('The decision, or that nobody decided in time.'),
      answers: z.array(z.string()).optional().describe('The answers in the order of the questions.'),
      reason: z.string().optional().describe('The reason, if the person gave one.'),
      message: z.string().optional().describe('The message to the agent about it.'),
    })
    .nullable()
    .describe('The result; null while it is pending.'),
  created_at: createdAt,
  expires_at: time.nullable().describe('When it expires; null: never.'),
  resolved_at: time.nullable().describe('When it ended; null while it is pending.'),
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
  .describe('A pending or settled request of the agent.') as unknown as z.ZodType<
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
    .describe('For an approval: true approves, false denies. False also declines a question.'),
  answers: z
    .array(text(0, 32_000))
    .max(100, 'At most 100 answers.')
    .optional()
    .describe('One answer per question, in order.'),
  decision: failsWith('decision_not_expected', z.enum(handoffDecisions))
    .optional()
    .describe('For a hand-off: its result.'),
  output: z.unknown().optional().describe('The output of the caller’s tool.'),
  error: text(1, 32_000).optional().describe('Why the caller’s tool failed.'),
  present_user: z.boolean().optional().describe('The approval comes from a present user.'),
  nonce: text(1, 200).optional().describe('For an approval in person: the `nonce` of the interaction.'),
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
    summary: 'List pending interactions, including calls of your functions.',
    description: 'Needs scope `runtime`. Subscribe to `interaction.created` rather than poll.',
    query: z.strictObject({
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Only those of this conversation.'),
      task_id: failsWith('invalid_task_id', id('task')).optional().describe('Only those of this task.'),
      type: z
        .enum(interactionTypes)
        .optional()
        .describe('Only those that accept this kind of answer; `tool_call` for calls of your functions.'),
      kind: z.enum(interactionKinds).optional().describe('Only those of this kind.'),
      approver: z.enum(approvers).optional().describe('Approvals that wait for the user, or for the org.'),
      status: z
        .enum(interactionStatuses)
        .default('pending')
        .describe('Only those in this state; by default the pending ones.'),
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
    summary: 'Show an interaction; a hand-off includes a picture of the page.',
    description:
      'Also for a session token of the same conversation. `questions`, `browser` and `details` contain what to show; `type` determines the answer.',
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
    summary: 'Answer an interaction with the body for its type.',
    description:
      'Approval: `approve`. Question: `answers`, one for each. Hand-off: `decision`, or `answers` if it asks for a value. Your function: `output` or `error`. An app is connected with `POST /v1/connections` instead. Of two simultaneous answers one counts; the other gets `already_answered`.',
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
      'user_disabled',
    ],
    command: 'interactions answer',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/interactions/{interaction_id}/cancel',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Withdraw an interaction; the task continues without that action.',
    description:
      'For a question that has become pointless. The agent is informed that nobody answered, and continues; a withdrawn approval counts as denied.',
    params: interactionParams,
    status: 200,
    response: interaction,
    errors: ['already_answered', 'interaction_expired', 'user_disabled'],
    command: 'interactions cancel',
  }),
};
