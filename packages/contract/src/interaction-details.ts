import { z } from 'zod';
import { approvalKinds } from './settings.ts';

const toolName = z.string().describe('The called tool or function.');
const rows = z
  .array(
    z.object({
      label: z.string().describe('The name of an argument, or the number of a step.'),
      title: z.string().optional().describe('The title of the argument in its schema.'),
      value: z.string().describe('The value as text, cut if it is long.'),
    }),
  )
  .describe('The arguments of a call, or the steps of a plan.');
const renderer = z.string().describe('A special form of the type, such as `ability_install`.');

/** Present if an MCP server asks the user, not the agent. */
const askedByServer = {
  asked_by: z.literal('server').optional().describe('Present if an MCP server asks, during a call.'),
  server: z.string().optional().describe('The slug of that server, or the id of the app.'),
  tool_name: z.string().optional().describe('The tool whose call asks.'),
  mode: z.enum(['form', 'url']).optional().describe('Whether it asks for values, or asks the user to open an address.'),
};

/** The details of an interaction, by its type. */
export const interactionDetails = {
  approval: z.object({
    tool_name: toolName.optional(),
    server: z.string().optional().describe('The MCP server of the tool.'),
    category: z.enum(approvalKinds).optional().describe('The matching entry of the deployment’s `approvals`.'),
    price_usd: z.number().optional().describe('The price of the call, in US dollars.'),
    description: z.string().optional().describe('The first sentence of the tool’s description.'),
    rows: rows.optional(),
    more_rows: z.int().optional().describe('The number of arguments that are not among the rows.'),
    title: z.string().optional().describe('The title of a plan.'),
    question: z.string().optional().describe('The full text of an approval in person.'),
    reason: z.string().optional().describe('For a limit that ended a task: the limit.'),
    message: z.string().optional().describe('For a limit that ended a task: its message.'),
    renderer: renderer.optional(),
  }),
  question: z.object(askedByServer),
  connect: z.object({
    app: z.string().describe('The id of the app to connect.'),
    name: z.string().describe('The app’s name for people.'),
    connect: z
      .object({
        route: z.string().describe('The route that starts the sign-in.'),
        body: z
          .object({
            app: z.string().describe('The id of the app.'),
            user_id: z.string().optional().describe('The user who connects the app; absent: the org.'),
          })
          .describe('The body to send to it.'),
      })
      .optional()
      .describe('The call that starts the sign-in; its response contains the address, valid for 15 minutes.'),
    reason: z.string().optional().describe('Why the agent needs the app.'),
  }),
  handoff: z.object({
    asks_for_value: z.boolean().optional().describe('The user supplies a value, which is sent as `answers`.'),
    asks_for_secret: z
      .boolean()
      .optional()
      .describe('The user enters a password, a code or card details: the screen is private.'),
    ...askedByServer,
    url: z.string().optional().describe('The address that an MCP server asks the user to open.'),
    host: z.string().optional().describe('The host of that address.'),
  }),
  tool_call: z.object({
    tool_name: toolName,
    rows: rows.optional(),
    renderer: renderer.optional(),
    declared_by: z
      .literal('message')
      .optional()
      .describe('Present if a message’s `tools` declared the function, and not the deployment.'),
  }),
};

export type InteractionDetails = {
  [Type in keyof typeof interactionDetails]: z.output<(typeof interactionDetails)[Type]>;
};

type DetailFields = ReturnType<(typeof interactionDetails)[keyof typeof interactionDetails]['partial']>['shape'];

/** The fields of all types in one object. The type determines which are present. */
export const anyDetails = z
  .object(
    Object.fromEntries(
      Object.values(interactionDetails).flatMap((each) => Object.entries(each.partial().shape)),
    ) as DetailFields,
  )
  .describe('The details, depending on the type.');
