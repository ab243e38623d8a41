import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

const textPart = z.looseObject({
  type: z.literal('text').describe('`text`: a piece of what is said.'),
  text: z.string().describe('What is said.'),
});
const mediaPart = z.looseObject({
  type: z.enum(['image', 'document', 'audio', 'video']).describe('What kind of file it is.'),
  source: z
    .discriminatedUnion('type', [
      z.looseObject({
        type: z.literal('data').describe('`data`: the bytes come along.'),
        value: z.string().describe('The bytes in base64.'),
        mimeType: z.string().max(200).describe('What they are, such as `image/png`.'),
      }),
      z.looseObject({
        type: z.literal('file').describe('`file`: it was uploaded before.'),
        value: z.string().describe('The id of the file, `file_…`.'),
      }),
    ])
    .describe('Where its bytes are.'),
});
const content = z.union([z.string(), z.array(z.union([textPart, mediaPart])).max(1000, 'At most 1000 parts.')]);

const message = z.discriminatedUnion('role', [
  z.looseObject({
    role: z.literal('user').describe('`user`: what the person says; the last one is new.'),
    content: content.describe('Text, or parts with files.'),
  }),
  z.looseObject({
    role: z.literal('assistant').describe('`assistant`: what the agent said; known here and not read again.'),
    content: z.string().nullish().describe('What the agent said.'),
  }),
  z.looseObject({
    role: z
      .enum(['system', 'developer'])
      .describe('Words of the client’s own; read as facts beside the deployment’s instructions.'),
    content: z.string().describe('What it says.'),
  }),
  z.looseObject({
    role: z.literal('tool').describe('`tool`: the result of a tool of the client.'),
    toolCallId: z.string().describe('The call that it answers.'),
    content: content.describe('What the tool returned.'),
    error: z.string().min(1).nullish().describe('Why the tool failed, where it did.'),
  }),
  // A client sends back what the agent showed. It is already stored here.
  z.looseObject({
    role: z
      .enum(['activity', 'reasoning'])
      .describe('What the agent showed and a client sends along; it is known here.'),
  }),
]);

const runInput = z.looseObject({
  threadId: z
    .string()
    .min(1)
    .max(200)
    .describe('Your name for the conversation: the same one goes on in the same conversation.'),
  runId: z.string().min(1).max(200).describe('Your name for this run; sent twice at once it runs once.'),
  state: z.unknown().optional().describe('The client’s state; given back as it came.'),
  messages: z.array(message).max(2000).describe('The thread so far as the client has it; only what is new is taken.'),
  tools: z
    .array(
      z.looseObject({
        name: z.string().describe('What the agent calls it by.'),
        description: z.string().describe('What it does and when to call it.'),
        parameters: z.record(z.string(), z.unknown()).nullish().describe('A JSON Schema that its arguments fit.'),
      }),
    )
    .max(32, 'At most 32 tools.')
    .default([])
    .describe('Tools that the client carries out itself.'),
  context: z
    .array(
      z.looseObject({
        description: z.string().describe('What the value is.'),
        value: z.string().describe('The value as text.'),
      }),
    )
    .max(1000, 'At most 1000 entries.')
    .default([])
    .describe('Data for this run; read as data, never as instructions.'),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().describe('The interrupt that is answered: the id of an interaction.'),
        status: z.enum(['resolved', 'cancelled']).describe('Whether it was answered or called off.'),
        payload: z.unknown().optional().describe('The answer, in the body that the type of interaction takes.'),
      }),
    )
    .max(100, 'At most 100 answers.')
    .optional()
    .describe('Answers to what the run before stopped for.'),
});

const runEvent = z.looseObject({
  type: z.string().describe('Which AG-UI event it is, such as `RUN_STARTED` or `TEXT_MESSAGE_CONTENT`.'),
});

/** The protocol with which chat UIs follow an agent. */
export const agUi = {
  run: route({
    method: 'POST',
    path: '/v1/agui/{deployment_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part of one.',
    description:
      'Always answers an event stream, one AG-UI event to a line of data. A run that stops for an approval, a question or a tool ends with an interrupt; send the answer as `resume` in the next run of the thread.',
    params: deploymentParams,
    headers: z.object({
      'Service-User': userId().optional().describe('The user the agent works for.'),
    }),
    body: runInput,
    bodyLimit: 32 * 1024 * 1024,
    status: 200,
    response: runEvent,
    produces: ['text/event-stream'],
    isJson: false,
    streams: true,
    streamed: runEvent,
    errors: [
      ...(['deployment_not_found', 'deployment_not_live', 'deployment_archived', 'invalid_deployment'] as const),
      ...(['user_required', 'user_disabled', 'conversation_not_found', 'conversation_user_mismatch'] as const),
      ...(['interaction_not_found', 'already_answered', 'interaction_expired', 'present_user_required'] as const),
      ...(['answer_mismatch', 'answers_mismatch', 'answers_required', 'connect_app_instead', 'not_ready'] as const),
      ...(['wallet_empty', 'org_cap_reached', 'user_cap_reached', 'model_unavailable', 'file_not_found'] as const),
      ...(['file_too_large'] as const),
    ],
    command: null,
  }),
};
