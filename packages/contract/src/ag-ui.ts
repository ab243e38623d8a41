import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const mediaPart = z.looseObject({
  type: z.enum(['image', 'document', 'audio', 'video']),
  source: z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('data'),
      value: z.string().meta({ description: 'base64' }),
      mimeType: z.string().max(200),
    }),
    z.looseObject({ type: z.literal('file'), value: z.string() }),
  ]),
});
const content = z.union([z.string(), z.array(z.union([textPart, mediaPart]))]);

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('assistant'), content: z.string().nullish() }),
  z.looseObject({ role: z.enum(['system', 'developer']), content: z.string() }),
  z.looseObject({ role: z.literal('tool'), toolCallId: z.string(), content, error: z.string().min(1).nullish() }),
  // What the agent showed, and a client sends along: it is known here.
  z.looseObject({ role: z.enum(['activity', 'reasoning']) }),
]);

const runInput = z.looseObject({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1).max(200),
  state: z.unknown().optional(),
  messages: z.array(message).max(2000),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .default([]),
  context: z.array(z.looseObject({ description: z.string(), value: z.string() })).default([]),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(['resolved', 'cancelled']),
        payload: z.unknown().optional(),
      }),
    )
    .optional(),
});

/** The protocol by which chat UIs follow an agent. */
export const agUi = {
  run: route({
    method: 'POST',
    path: '/v1/ag-ui/{deployment_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part of one.',
    params: deploymentParams,
    headers: z.object({
      'Service-User': userId().optional().meta({ description: 'The user the agent works for.' }),
    }),
    body: runInput,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response: z.looseObject({ type: z.string() }),
    produces: ['text/event-stream'],
    streams: true,
    errors: [
      ...(['deployment_not_found', 'deployment_not_live', 'deployment_archived', 'invalid_deployment'] as const),
      ...(['user_required', 'user_disabled', 'conversation_not_found', 'conversation_user_mismatch'] as const),
      ...(['interaction_not_found', 'already_answered', 'interaction_expired', 'present_user_required'] as const),
      ...(['answer_mismatch', 'answers_mismatch', 'answers_required', 'connect_app_instead', 'not_ready'] as const),
      ...(['wallet_empty', 'org_cap_reached', 'user_cap_reached', 'model_unavailable', 'file_not_found'] as const),
    ],
    command: null,
  }),
};
