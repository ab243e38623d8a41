import { z } from 'zod';
import { approvalKinds } from './settings.ts';

const toolName = z.string().meta({ description: 'The tool or function that is called.' });
const rows = z
  .array(
    z.object({
      label: z.string().meta({ description: 'The name of an argument, or the number of a step.' }),
      title: z.string().optional().meta({ description: 'What the argument’s schema calls it before people.' }),
      value: z.string().meta({ description: 'The value as text, cut where it is long.' }),
    }),
  )
  .meta({ description: 'The arguments of a call, or the steps of a plan.' });
const renderer = z.string().meta({ description: 'A special form of the type, such as `ability_install`.' });

/** What an interaction holds beyond its sentence, by its type. */
export const interactionDetails = {
  approval: z.object({
    tool_name: toolName.optional(),
    server: z.string().optional().meta({ description: 'The MCP server of the tool.' }),
    category: z.enum(approvalKinds).optional().meta({ description: 'Which of the deployment’s `approvals` it is.' }),
    price_usd: z.number().optional().meta({ description: 'What the call costs, in US dollars.' }),
    description: z.string().optional().meta({ description: 'The first sentence of the tool’s description.' }),
    rows: rows.optional(),
    more_rows: z.int().optional().meta({ description: 'How many arguments are not among the rows.' }),
    title: z.string().optional().meta({ description: 'The title of a plan.' }),
    question: z.string().optional().meta({ description: 'What is approved in person, in full.' }),
    reason: z.string().optional().meta({ description: 'Of a limit that ended work: which one.' }),
    message: z.string().optional().meta({ description: 'Of a limit that ended work: what it says.' }),
    renderer: renderer.optional(),
  }),
  question: z.object({}),
  connect: z.object({
    app: z.string().meta({ description: 'The id of the app to connect.' }),
    name: z.string().meta({ description: 'The app’s name for people.' }),
    connect: z
      .object({
        route: z.string().meta({ description: 'The route that begins the sign-in.' }),
        body: z
          .object({
            app: z.string().meta({ description: 'The id of the app.' }),
            user_id: z.string().optional().meta({ description: 'Whose app it is; absent: the org’s.' }),
          })
          .meta({ description: 'The body to send to it.' }),
      })
      .optional()
      .meta({ description: 'The call that begins the sign-in.' }),
    connect_url: z.string().optional().meta({ description: 'Where the person signs in.' }),
    reason: z.string().optional().meta({ description: 'What the agent needs the app for.' }),
  }),
  handoff: z.object({
    asks_for_value: z.boolean().optional().meta({ description: 'They tell a value: it is answered with `answers`.' }),
    asks_for_secret: z
      .boolean()
      .optional()
      .meta({ description: 'They enter a password, a code or card details: the screen is private.' }),
  }),
  tool_call: z.object({
    tool_name: toolName,
    rows: rows.optional(),
    renderer: renderer.optional(),
    declared_by: z
      .literal('message')
      .optional()
      .meta({ description: 'Set where a message’s `tools` declared the function, and not the deployment.' }),
  }),
};

export type InteractionDetails = {
  [Type in keyof typeof interactionDetails]: z.output<(typeof interactionDetails)[Type]>;
};

type DetailFields = ReturnType<(typeof interactionDetails)[keyof typeof interactionDetails]['partial']>['shape'];

/** The fields of all types in one object: which of them are there, the type says. */
export const anyDetails = z
  .object(
    Object.fromEntries(
      Object.values(interactionDetails).flatMap((each) => Object.entries(each.partial().shape)),
    ) as DetailFields,
  )
  .meta({ description: 'What it is about, by the type.' });
