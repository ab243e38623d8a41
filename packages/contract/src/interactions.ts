import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id, idPattern } from './ids.ts';
import { anyDetails, type InteractionDetails, interactionDetails } from './interaction-details.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { type Capability, shown } from './session-access.ts';
import { text } from './text.ts';
import { time } from './time.ts';
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

/** A call to a caller's own tool keeps its `call_` id; everything else that waits has an `int_` id. */
export const interactionId = () =>
  z
    .string()
    .regex(
      new RegExp(`${idPattern('int').source}|${idPattern('call').source}`),
      'Must look like int_ or call_ followed by 24 characters.',
    );

const shownInteraction = z.object({
  object: z.literal('interaction'),
  id: interactionId(),
  user_id: userId().nullable(),
  task_id: id('task').nullable(),
  conversation_id: id('conv').nullable(),
  kind: z.enum(interactionKinds),
  type: z.enum(interactionTypes),
  status: z.enum(interactionStatuses),
  summary: z.string(),
  moves_money: z.boolean().nullable(),
  requires_present_user: z.boolean(),
  approver: z
    .enum(approvers)
    .optional()
    .meta({ description: 'Of an approval, who says yes: the user, or the org by a key or a member.' }),
  needs: z.array(z.enum(interactionNeeds)).meta({
    description:
      'What a yes must bring: `present_user: true`, the `nonce`. `connection`, `installation`: it is done elsewhere, and no yes is taken.',
  }),
  nonce: z.string().optional().meta({ description: 'Of a `hands_approval`: send it back with the yes.' }),
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: z.string(),
        options: z.array(z.string()),
        multi_select: z.boolean(),
      }),
    )
    .optional(),
  frame_url: z.string().optional().meta({ description: 'Of a hand-off read alone: the page as a JPEG data URI.' }),
  browser: z.object({ suggested_mode: z.literal('control'), url: z.string().nullable() }).optional(),
  details: anyDetails,
  outcome: z
    .object({
      decision: z.enum(['approved', 'denied', 'answered', 'cancelled', 'expired']),
      answers: z.array(z.string()).optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    })
    .nullable(),
  created_at: time,
  expires_at: time.nullable(),
  resolved_at: time.nullable(),
});

type Shown = z.output<typeof shownInteraction>;
type ByType = {
  [Type in InteractionType]: Omit<Shown, 'type' | 'details'> & { type: Type; details: InteractionDetails[Type] };
};

/** Whoever reads one knows by its `type` what its `details` hold; a server writes them as they were kept. */
export const interaction = shownInteraction.refine(
  ({ type, details }) => interactionDetails[type].strict().safeParse(details).success,
  { error: 'The details are not those of the type.', path: ['details'] },
) as unknown as z.ZodType<
  ByType[InteractionType],
  Omit<z.input<typeof shownInteraction>, 'details'> & { details: Record<string, unknown> }
>;

/**
 * What a session must have switched on to see and answer an interaction of a type, in its own conversation. A call of
 * the company's own code is the company's alone.
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
    ...shown('app', 'name', 'connect_url', 'reason'),
    rows: shown('label', 'title', 'value'),
  },
  outcome: shown('decision', 'answers', 'reason'),
};

/**
 * A call of the company's own code, and what the company approves, is seen to wait and to end: `summary` and `rows` would
 * quote its arguments. An approval that does not say whose it is counts as the company's.
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

/** Which of these fields an interaction takes is decided by its type. */
export const answerFields = {
  approve: z.boolean().optional(),
  answers: z.array(text(0, 32_000)).optional().meta({ description: 'One answer per question, in order.' }),
  decision: failsWith('decision_not_expected', z.enum(handoffDecisions)).optional(),
  output: z.unknown().optional().meta({ description: 'What the caller’s tool returned.' }),
  error: text(1, 32_000).optional().meta({ description: 'Why the caller’s tool failed.' }),
  present_user: z.boolean().optional().meta({ description: 'The yes comes from a person who is present.' }),
  nonce: text(1, 200).optional(),
};

const interactionParams = z.strictObject({ interaction_id: failsWith('interaction_not_found', interactionId()) });

export const interactions = {
  list: route({
    method: 'GET',
    path: '/v1/interactions',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List what the agent waits on, calls to the caller’s own tools included.',
    query: z.strictObject({
      user_id: userId().optional(),
      conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
      task_id: failsWith('invalid_task_id', id('task')).optional(),
      type: z.enum(interactionTypes).optional(),
      kind: z.enum(interactionKinds).optional(),
      approver: z.enum(approvers).optional().meta({ description: 'Approvals that wait for the user, or for the org.' }),
      status: z.enum(interactionStatuses).default('pending'),
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
    params: interactionParams,
    status: 200,
    response: interaction,
    errors: ['already_answered', 'interaction_expired'],
    command: 'interactions cancel',
  }),
};
