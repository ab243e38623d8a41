import { z } from 'zod';
import { failsWith } from './fault.ts';
import { recordOfAtMost } from './record-of-at-most.ts';
import { secretReference } from './secret-reference.ts';
import { text } from './text.ts';
import { readToolInput } from './tool-input.ts';
import { webAddress } from './web-address.ts';

const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'A tool name has 1 to 128 letters, digits and the signs _ . -');

export const toolNames = z.array(toolName).max(200, 'At most 200 tool names.');

/** Who approves a pending call: the user of the conversation, or the org through a key or a member. */
export const approvers = ['user', 'org'] as const;
const approver = z
  .enum(approvers, { error: 'Write `user` or `org`.' })
  .default('user')
  .describe('Who approves a pending call: the user, or the org through a key or a member.');

/** A version's policy for the tools of a server. */
export const toolPolicy = z.strictObject({
  allow: toolNames
    .optional()
    .describe('The only tools of the server that the agent is offered; absent: all, also those that it adds later.'),
  deny: toolNames.default([]).describe('Tools of the server that the agent never calls.'),
  require_approval: toolNames
    .default([])
    .describe('Tools that always need approval, even if the server marks them read-only.'),
  run_without_asking: z
    .union([toolNames, z.literal('all')], { error: 'Write a list of tool names, or `all`.' })
    .default([])
    .describe(
      'Tools that change something and need no approval, or `all` for every tool of a server that you trust; tools that the server marks read-only need no entry.',
    ),
  approver,
});

/** The default policy. */
export const noToolPolicy = toolPolicy.parse({});

/** A line break in a value could inject further headers. */
export const headers = recordOfAtMost(
  50,
  'headers',
  z.record(
    z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
    text(1, 2048).regex(/^\P{Cc}+$/u, 'A header value holds no control characters.'),
    {
      error: (issue) =>
        issue.code === 'invalid_key' ? 'A header name has 1 to 64 letters, digits and dashes.' : undefined,
    },
  ),
);

/** An MCP server, found or registered by its URL. The first key distinguishes the two kinds of entry. */
export const serverEntry = z.strictObject({
  mcp: webAddress.describe('The public https address of an MCP server; the first file that names it registers it.'),
  name: text(1, 80).optional().describe('The display name of the server; absent: the host of its address.'),
  auth: secretReference
    .optional()
    .describe('A secret such as `${SHOP_TOKEN}` that is sent as `Authorization: Bearer`.'),
  headers: headers
    .optional()
    .describe('Headers for every call; a credential is written as `${NAME}` or `${user_secret:NAME}`.'),
  ...toolPolicy.shape,
});

/** A function that the caller's code answers. */
export const functionEntry = z.strictObject({
  function: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'Use a lowercase letter, then lowercase letters, digits, underscores, at most 64.')
    .refine((name) => !name.startsWith('mcp__'), {
      error: 'Names that begin with mcp__ belong to tools of MCP servers.',
      params: { code: 'tool_name_reserved' },
      abort: true,
    })
    .describe('The name of the function: lowercase letters, digits and underscores.'),
  description: text(1, 1024).describe(
    'What it does and when to call it: the agent decides by this, and a person sees its first sentence in an approval.',
  ),
  input: failsWith(
    'invalid_tool_input',
    z
      .record(z.string(), z.unknown(), { error: 'Give the arguments as an object.' })
      .superRefine((input, context) => {
        for (const message of readToolInput(input).faults) context.addIssue({ code: 'custom', message });
      })
      .describe(
        'Argument names and types such as `string`, `integer?`, `string[]`, `small|large`; or a JSON Schema of type object',
      ),
  ).default({}),
  timeout_s: z.int().min(5).max(600).default(120).describe('Seconds that the agent waits for the answer of your code.'),
  read_only: z.boolean().default(false).describe('True: a lookup that changes nothing; it runs without approval.'),
  run_without_asking: z
    .boolean()
    .default(false)
    .describe('True: it changes something and still runs without approval.'),
  activity: text(1, 120)
    .optional()
    .describe(
      'Shown to the user while the call runs, such as `Looking up order {number}`; braces name an argument. Absent: the name of the function.',
    ),
  approver,
});
