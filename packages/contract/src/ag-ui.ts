import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

const textPart = z.looseObject({
  type: z.literal('text').describe('`text`: a text part of the message.'),
  text: z.string().describe('The text of the part.'),
});
const mediaPart = z.looseObject({
  type: z.enum(['image', 'document', 'audio', 'video']).describe('The type of the file.'),
  source: z
    .discriminatedUnion('type', [
      z.looseObject({
        type: z.literal('data').describe('`data`: the bytes are included.'),
        value: z.string().describe('The bytes in base64.'),
        mimeType: z.string().max(200).describe('The media type, such as `image/png`.'),
      }),
      z.looseObject({
        type: z.literal('file').describe('`file`: it was uploaded before.'),
        value: z.string().describe('The id of the file, `file_…`.'),
      }),
    ])
    .describe('The source of its bytes.'),
});
const content = z.union([z.string(), z.array(z.union([textPart, mediaPart])).max(1000, 'At most 1000 parts.')]);

const message = z.discriminatedUnion('role', [
  z.looseObject({
    role: z.literal('user').describe('`user`: a message from the user; the last one is new.'),
    content: content.describe('Text, or parts with files.'),
  }),
  z.looseObject({
    role: z.literal('assistant').describe('`assistant`: an answer of the agent; already stored and not read again.'),
    content: z.string().nullish().describe('The text of the answer.'),
  }),
  z.looseObject({
    role: z
      .enum(['system', 'developer'])
      .describe('Text from the client; read as facts in addition to the deployment’s instructions.'),
    content: z.string().describe('The text of the message.'),
  }),
  z.looseObject({
    role: z.literal('tool').describe('`tool`: the result of a client tool.'),
    toolCallId: z.string().describe('The call that it answers.'),
    content: content.describe('The result of the tool.'),
    error: z.string().min(1).nullish().describe('Why the tool failed, if it did.'),
  }),
  // A client sends back what the agent showed. It is already stored here.
  z.looseObject({
    role: z.enum(['activity', 'reasoning']).describe('Sent back by clients; already stored and ignored.'),
  }),
]);

const runInput = z.looseObject({
  threadId: z
    .string()
    .min(1)
    .max(200)
    .describe('Your name for the conversation: the same name continues the same conversation.'),
  runId: z.string().min(1).max(200).describe('Your name for this run; a duplicate runs only once.'),
  state: z.unknown().optional().describe('The client’s state; returned unchanged.'),
  messages: z.array(message).max(2000).describe('The thread so far; only new messages are used.'),
  tools: z
    .array(
      z.looseObject({
        name: z.string().describe('The name of the tool.'),
        description: z.string().describe('What it does and when to call it.'),
        parameters: z.record(z.string(), z.unknown()).nullish().describe('A JSON Schema for its arguments.'),
      }),
    )
    .max(32, 'At most 32 tools.')
    .default([])
    .describe('Tools that the client runs itself.'),
  context: z
    .array(
      z.looseObject({
        description: z.string().describe('The meaning of the value.'),
        value: z.string().describe('The value as text.'),
      }),
    )
    .max(1000, 'At most 1000 entries.')
    .default([])
    .describe('Data for this run; read as data, never as instructions.'),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().describe('The interrupt to answer: the id of an interaction.'),
        status: z.enum(['resolved', 'cancelled']).describe('Whether it was answered or cancelled.'),
        payload: z.unknown().optional().describe('The answer, in the body that the type of interaction accepts.'),
      }),
    )
    .max(100, 'At most 100 answers.')
    .optional()
    .describe('Answers to the interrupts of the previous run.'),
});

const runEvent = z.looseObject({
  type: z.string().describe('The type of AG-UI event, such as `RUN_STARTED` or `TEXT_MESSAGE_CONTENT`.'),
});

/** The protocol with which chat UIs follow an agent. */
export const agUi = {
  run: route({
    method: 'POST',
    path: '/v1/agui/{deployment_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run a deployment through AG-UI: a thread is a conversation, a run a turn or a part of one.',
    description:
      'Always returns an event stream, one AG-UI event per data line. A run that stops for an approval, a question or a tool ends with an interrupt; send the answer as `resume` in the next run of the thread.',
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
    passesIdempotencyKey: true,
    errors: [
      ...([
        'deployment_not_found',
        'deployment_not_live',
        'deployment_archived',
        'deployment_deleted',
        'invalid_deployment',
      ] as const),
      ...(['user_required', 'user_disabled', 'conversation_not_found', 'conversation_user_mismatch'] as const),
      ...(['interaction_not_found', 'already_answered', 'interaction_expired', 'present_user_required'] as const),
      ...(['answer_mismatch', 'answers_mismatch', 'answers_required', 'connect_app_instead', 'not_ready'] as const),
      ...(['wallet_empty', 'org_cap_reached', 'user_cap_reached', 'model_unavailable', 'file_not_found'] as const),
      ...(['file_too_large', 'message_required', 'invalid_tool_input'] as const),
    ],
    command: null,
  }),
};
