import { z } from 'zod';
import { failsWith } from './fault.ts';
import { secretReference } from './secret-reference.ts';
import { text } from './text.ts';
import { readToolInput } from './tool-input.ts';
import { webAddress } from './web-address.ts';

const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'A tool name has 1 to 128 letters, digits and the signs _ . -');

export const toolNames = z.array(toolName).max(200, 'At most 200 tool names.');

/** Who says yes where a call waits: the user whose conversation it is, or the org, by a key or a member. */
export const approvers = ['user', 'org'] as const;
const approver = z
  .enum(approvers, { error: 'Write `user` or `org`.' })
  .default('user')
  .meta({ description: 'Who says yes where a call waits: the user, or the org by a key or a member.' });

/** What a version says of the tools of a server. */
export const toolPolicy = z.strictObject({
  deny: toolNames.default([]),
  require_approval: toolNames.default([]),
  run_without_asking: toolNames.default([]),
  approver,
});

/** What it means to say nothing. */
export const noToolPolicy = toolPolicy.parse({});

/** A line break in a value would let it write further headers. */
export const headers = z.record(
  z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  text(1, 2048).regex(/^\P{Cc}+$/u, 'A header value holds no control characters.'),
  {
    error: (issue) =>
      issue.code === 'invalid_key' ? 'A header name has 1 to 64 letters, digits and dashes.' : undefined,
  },
);

/** An MCP server, found or registered by its URL. The first key tells the two forms of entry apart. */
export const serverEntry = z.strictObject({
  mcp: webAddress,
  name: text(1, 80).optional(),
  auth: secretReference.optional(),
  headers: headers.optional(),
  ...toolPolicy.shape,
});

/** A function that the caller's own code answers. */
export const functionEntry = z.strictObject({
  function: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'Use a lowercase letter, then lowercase letters, digits, underscores, at most 64.')
    .refine((name) => !name.startsWith('mcp__'), {
      error: 'Names that begin with mcp__ belong to tools of MCP servers.',
      params: { code: 'tool_name_reserved' },
      abort: true,
    }),
  description: text(1, 1024),
  input: failsWith(
    'invalid_tool_input',
    z
      .record(z.string(), z.unknown(), { error: 'Give the arguments as an object.' })
      .superRefine((input, context) => {
        for (const message of readToolInput(input).faults) context.addIssue({ code: 'custom', message });
      })
      .meta({
        description:
          'Argument names and types such as `string`, `integer?`, `string[]`, `small|large`; or a JSON Schema of type object',
      }),
  ).default({}),
  timeout_s: z.int().min(5).max(600).default(120),
  read_only: z.boolean().default(false),
  run_without_asking: z.boolean().default(false),
  approver,
});
