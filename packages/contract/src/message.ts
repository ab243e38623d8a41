import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { jsonBytes } from './json-bytes.ts';
import { reservedToolNames } from './reserved-names.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt } from './time.ts';
import { functionEntry } from './tool-entry.ts';

export const messageRoles = ['user', 'agent', 'work'] as const;

/** Present only if true, so that complete answers look the same as before. */
export const truncated = z
  .literal(true)
  .optional()
  .describe('The model reached its length limit: the text ends there.');

const mark = z.int().min(1).describe('The number in the text: `[3]` cites the source with mark 3.');

/** The passage behind a mark, as far as the user's agent may still read it. */
export const messageSource = z
  .object({
    mark,
    document_id: id('doc').describe('The document of the passage.'),
    notebook_id: id('nb').describe('The notebook of the document.'),
    title: z.string().describe('The title of the document.'),
    heading: z.string().describe('The headings above the passage, outermost first; empty if there is none.'),
    page: z.int().nullable().describe('The page on which the passage begins; null for a file without pages.'),
    text: z.string().describe('The passage; of a document that was read whole, its beginning.'),
  })
  .describe('A passage that a reply cites.');

/** Omits the ids of the company's documents. */
export const messageSourceSeen = shown('mark', 'title', 'heading', 'page', 'text');

export const message = z
  .object({
    object: tag('message'),
    id: id('msg'),
    conversation_id: id('conv'),
    turn_id: id('turn'),
    task_id: id('task').nullable().describe('The task that it summarises or belongs to; null otherwise.'),
    role: z
      .enum(messageRoles)
      .describe('The author: `user`, the `agent` in a reply, or `work` for the summary of a task.'),
    text: z.string().describe('The text as Markdown.'),
    data: z.unknown().describe('The structured value that `output_schema` requested; null if there is none.'),
    truncated,
    context: z.record(z.string(), z.unknown()).nullable().describe('The data sent with it; null if there is none.'),
    attachments: z
      .array(z.object({ file_id: id('file'), filename: z.string().describe('The name of the file.') }))
      .describe('Files sent with it.'),
    sources: z
      .array(
        z.object({
          mark,
          document_id: id('doc').describe('The document of the passage.'),
          notebook_id: id('nb').describe('The notebook of the document.'),
        }),
      )
      .optional()
      .describe(
        'The passages of notebooks that a reply cites, in the order of their first mark; absent if it cites none. `GET …/messages/{message_id}/sources` returns their text.',
      ),
    created_at: createdAt,
  })
  .describe('A message of a conversation.');

/** Omits `context`, which is the company's. */
export const messageSeen = {
  ...shown('object', 'id', 'conversation_id', 'turn_id', 'task_id', 'role', 'text', 'data', 'truncated', 'created_at'),
  attachments: shown('file_id', 'filename'),
  // The ids of documents are the company's.
  sources: shown('mark'),
};

const outputSchema = failsWith(
  'output_schema_invalid',
  z
    .record(z.string(), z.unknown())
    .refine((schema) => jsonBytes(schema) <= 32 * 1024, {
      error: '`output_schema` can have at most 32 KB.',
      params: { code: 'output_schema_too_large' },
    })
    .describe('JSON Schema of the structured answer, at most 32 KB.'),
);

const { function: functionName, description, timeout_s, read_only, run_without_asking, approver } = functionEntry.shape;

/** A function of the caller that the agent may call while it works on this message. */
const messageTool = z.strictObject({
  name: functionName.refine((name) => !reservedToolNames.has(name), {
    error: 'This name belongs to one of the agent’s own tools.',
    params: { code: 'tool_name_reserved' },
  }),
  description,
  input_schema: failsWith(
    'invalid_tool_input',
    z.looseObject({ type: z.literal('object').describe('Arguments are always one object.') }),
  )
    .default({
      type: 'object',
    })
    .describe('A JSON Schema of type object for its arguments.'),
  timeout_s,
  read_only,
  run_without_asking,
  approver,
});

const toolsOf = (tool: typeof messageTool, most: number) =>
  z
    .array(tool)
    .max(most, `At most ${most} tools.`)
    .superRefine((tools, context) => {
      const seen = new Set<string>();
      for (const [index, { name }] of tools.entries()) {
        if (seen.has(name)) {
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: `The name \`${name}\` is used twice.`,
            params: { code: 'duplicate_name' },
          });
        }
        seen.add(name);
      }
    });

/** The fields of a message, wherever one is sent. */
export const messageFields = {
  message: text(0, 32_000).optional().describe('The user’s message, at most 32,000 characters.'),
  context: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Data for this message only; the agent reads it as data, never as instructions.'),
  attachments: z
    .array(z.strictObject({ file_id: id('file') }))
    .max(10, 'At most 10 attachments.')
    .optional()
    .describe('Files uploaded before with `POST /v1/files`, at most 10.'),
  output_schema: outputSchema.optional().describe('A JSON Schema for the structured answer, at most 32 KB.'),
  success_criteria: text(1, 4000)
    .optional()
    .describe(
      'What the result must meet. The message becomes a task, the agent reads the criteria, and a judge checks the result and sets `outcome`; a result that does not meet them is sent back at most twice.',
    ),
  tools: toolsOf(messageTool, 32)
    .optional()
    .describe('Your functions that the agent may call for this message, in addition to the deployment’s; at most 32.'),
  hand_off: z
    .enum(['auto', 'always'])
    .default('auto')
    .describe('`auto`: the agent decides whether it answers or hands off to a task; `always`: always a task.'),
  plan: z.boolean().default(false).describe('The task shows its plan and waits for approval before it starts.'),
  stream: z.boolean().default(false).describe('Return the events of the turn until it settles.'),
};

/** The most functions that a client of OpenAI's API may send: what OpenAI itself accepts. */
export const maxEdgeTools = 128;

/** The same fields in a message that an edge sends for its client, with the limits of the client's own API. */
export const edgeMessageFields = {
  ...messageFields,
  tools: toolsOf(messageTool.extend({ description: text(1, 32_000) }), maxEdgeTools).optional(),
};

/** The error codes of these fields. */
export const messageErrors = [
  'message_required',
  'output_schema_invalid',
  'output_schema_too_large',
  'invalid_tool_input',
  'tool_name_reserved',
  'duplicate_name',
] as const;

export const whenBusy = z
  .enum(['queue', 'interrupt'])
  .default('queue')
  .describe(
    'During a reply: `queue` waits for it to end; `interrupt` stops it and the queued messages, and is answered at once. Open tasks continue.',
  );

/** The answer to a pending call of a caller's tool. It follows the rules of the interactions route. */
const toolResult = z
  .strictObject({
    call_id: id('call'),
    output: z.unknown().optional().describe('The output of the function, any JSON.'),
    error: text(1, 32_000).optional().describe('Why it failed, in words for the agent.'),
  })
  .refine((result) => (result.output === undefined) !== (result.error === undefined), {
    error: 'Send `output` or `error`, not both.',
    params: { code: 'answer_mismatch' },
  });

export const toolResults = z
  .array(toolResult)
  .max(32, 'At most 32 tool results.')
  .describe('Results of pending calls of your functions, at most 32; each has `output` or `error`.');

/** Whether the body has fields that need a message: ignoring them would be worse than an error. */
export function asksSomething(sent: {
  context?: unknown;
  output_schema?: unknown;
  success_criteria?: unknown;
  tools?: unknown;
  hand_off: 'auto' | 'always';
  plan: boolean;
  stream: boolean;
}): boolean {
  const options = [sent.context, sent.output_schema, sent.success_criteria, sent.tools];
  return sent.stream || sent.plan || sent.hand_off === 'always' || options.some((each) => each !== undefined);
}

/** Whether the message has content. Blank text has none. */
export function saysSomething(sent: {
  message?: string | undefined;
  attachments?: readonly unknown[] | undefined;
  tool_results?: readonly unknown[] | undefined;
}): boolean {
  return Boolean(sent.message?.trim() || sent.attachments?.length || sent.tool_results?.length);
}
