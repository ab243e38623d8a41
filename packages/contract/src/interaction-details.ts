import { z } from 'zod';
import { approvalKinds } from './settings.ts';

const toolName = z.string().describe('The tool or function that is called.');
const rows = z
  .array(
    z.object({
      label: z.string().describe('The name of an argument, or the number of a step.'),
      title: z.string().optional().describe('What the argument’s schema calls it before people.'),
      value: z.string().describe('The value as text, cut where it is long.'),
    }),
  )
  .describe('The arguments of a call, or the steps of a plan.');
const renderer = z.string().describe('A special form of the type, such as `ability_install`.');

/** Present if an MCP server asks the user, not the agent. */
const askedByServer = {
  asked_by: z.literal('server').optional().describe('Present where an MCP server asks, in the middle of a call.'),
  server: z.string().optional().describe('The slug of that server, or the id of the app.'),
  tool_name: z.string().optional().describe('The tool whose call asks.'),
  mode: z
    .enum(['form', 'url'])
    .optional()
    .describe('Whether it asks for values, or for the person to open an address.'),
};

/** The details of an interaction, by its type. */
export const interactionDetails = {
  approval: z.object({
    tool_name: toolName.optional(),
    server: z.string().optional().describe('The MCP server of the tool.'),
    category: z.enum(approvalKinds).optional().describe('Which of the deployment’s `approvals` it is.'),
    price_usd: z.number().optional().describe('What the call costs, in US dollars.'),
    description: z.string().optional().describe('The first sentence of the tool’s description.'),
    rows: rows.optional(),
    more_rows: z.int().optional().describe('How many arguments are not among the rows.'),
    title: z.string().optional().describe('The title of a plan.'),
    question: z.string().optional().describe('What is approved in person, in full.'),
    reason: z.string().optional().describe('Of a limit that ended work: which one.'),
    message: z.string().optional().describe('Of a limit that ended work: what it says.'),
    renderer: renderer.optional(),
  }),
  question: z.object(askedByServer),
  connect: z.object({
    app: z.string().describe('The id of the app to connect.'),
    name: z.string().describe('The app’s name for people.'),
    connect: z
      .object({
        route: z.string().describe('The route that begins the sign-in.'),
        body: z
          .object({
            app: z.string().describe('The id of the app.'),
            user_id: z.string().optional().describe('Whose app it is; absent: the org’s.'),
          })
          .describe('The body to send to it.'),
      })
      .optional()
      .describe('The call that begins the sign-in; its answer has the address, which is good for 15 minutes.'),
    reason: z.string().optional().describe('What the agent needs the app for.'),
  }),
  handoff: z.object({
    asks_for_value: z.boolean().optional().describe('They tell a value: it is answered with `answers`.'),
    asks_for_secret: z
      .boolean()
      .optional()
      .describe('They enter a password, a code or card details: the screen is private.'),
    ...askedByServer,
    url: z.string().optional().describe('The address that an MCP server asks the person to open.'),
    host: z.string().optional().describe('The host of that address.'),
  }),
  tool_call: z.object({
    tool_name: toolName,
    rows: rows.optional(),
    renderer: renderer.optional(),
    declared_by: z
      .literal('message')
      .optional()
      .describe('Set where a message’s `tools` declared the function, and not the deployment.'),
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
  .describe('What it is about, by the type.');
