import { z } from 'zod';
import { id } from './ids.ts';
import { answerFields, interactionId } from './interactions.ts';
import { messageFields } from './message.ts';
import { namedDeployment } from './named-deployment.ts';
import type { Route } from './route.ts';
import { sessionFields } from './sessions.ts';
import { text } from './text.ts';
import { webAddress } from './web-address.ts';
import { webhookEventTypes } from './webhook-event-types.ts';

export type NeededScopes = Extract<Route, { auth: 'key' }>['scopes'];

/** A command that makes several calls, or none. Commands with a single call are in the table of routes. */
type CompositeCommand = {
  name: string;
  summary: string;
  /** The scopes that the key needs; null if no key is used. */
  scopes: NeededScopes | null;
  /** Whether MCP shows it. Commands that read local folders or run for ever exist only in the CLI. */
  mcp: boolean;
  input: Readonly<Record<string, z.ZodType>>;
};

const conversationId = id('conv').optional();
const folder = text(1, 4096).default('.').describe('The folder that contains service.yaml.');

export const compositeCommands = [
  {
    name: 'ask',
    summary: 'Send a message to the agent and wait for its final answer, or until a person has to act.',
    scopes: ['runtime'],
    mcp: true,
    input: {
      message: text(1, 32_000).describe('Your message to the agent.'),
      conversation: conversationId.describe('The conversation to continue; absent: a new one.'),
      deployment: namedDeployment.optional(),
      context: messageFields.context,
      attachments: messageFields.attachments,
      output_schema: messageFields.output_schema,
      success_criteria: messageFields.success_criteria,
      hand_off: messageFields.hand_off,
      wait_s: z
        .int()
        .min(1)
        .max(120)
        .default(60)
        .describe('How long to wait; without --json the command line shows a turn to its end by default.'),
    },
  },
  {
    name: 'answer',
    summary: 'Answer a pending interaction: an approval, a question, a hand-off or a call of your function.',
    scopes: ['runtime'],
    mcp: true,
    input: {
      interaction: interactionId()
        .optional()
        .describe('The interaction; absent: the only pending one of the user, or of the org’s own agent.'),
      ...answerFields,
    },
  },
  {
    name: 'embed',
    summary: 'Create a session for a user and return the address of its page, valid for 15 minutes.',
    scopes: ['runtime'],
    mcp: true,
    input: {
      conversation: conversationId.describe('The conversation that the page continues; absent: a new one.'),
      deployment: sessionFields.deployment,
      reuse: sessionFields.reuse,
      chat: z.boolean().default(true).describe('Whether the page has a chat.'),
      screen: sessionFields.screen,
      voice: sessionFields.voice,
      memory: sessionFields.memory,
    },
  },
  {
    name: 'events',
    summary: 'Read the events of a conversation after a seq, or the newest events of the org.',
    scopes: ['runtime'],
    mcp: true,
    input: {
      conversation: conversationId.describe('The conversation; absent: the newest events of the whole org.'),
      task: id('task').optional().describe('Only events of this task.'),
      after: z.int().min(0).optional().describe('Only events after this `seq`.'),
      type: z.enum(webhookEventTypes).optional().describe('Only events of this type, for the whole org.'),
      limit: z.int().min(1).max(100).default(20).describe('The maximum number of events, 1 to 100.'),
    },
  },
  {
    name: 'test',
    summary: 'Run the scenarios of a deployment against its latest version and report each verdict.',
    scopes: ['setup'],
    mcp: true,
    input: {
      deployment: text(1, 120)
        .optional()
        .describe('The deployment; absent: the one that service.yaml names, else the only one.'),
    },
  },
  {
    name: 'apply',
    summary: 'Apply service.yaml with its folders and files.',
    scopes: ['setup'],
    mcp: false,
    input: {
      folder,
      promote: z
        .enum(['after_tests', 'now', 'no'])
        .default('after_tests')
        .describe('`after_tests`: the version runs once its tests pass; `now`: at once; `no`: it is only saved.'),
    },
  },
  {
    name: 'diff',
    summary: 'Show what applying service.yaml with its folders would change, and change nothing.',
    scopes: ['setup'],
    mcp: false,
    input: {
      folder,
      promote: z
        .enum(['after_tests', 'now', 'no'])
        .default('after_tests')
        .describe('The `promote` of the apply to plan; it decides which tests would run.'),
    },
  },
  {
    name: 'improve',
    summary: 'Reproduce failures, propose a change, prove it, and write it into the folder.',
    scopes: ['setup'],
    mcp: false,
    input: {
      folder: text(1, 4096)
        .default('.')
        .describe('The folder that contains service.yaml, or a deployment, whose change is only printed.'),
      from: text(1, 2000)
        .default('ratings')
        .describe('`ratings` for conversations with a bad rating, an ins_ id, or conv_ ids with commas between them.'),
      budget_usd: z.number().positive().max(1000).default(5).describe('The most that it may cost, in US dollars.'),
      rounds: z.int().min(1).max(5).default(2).describe('The most proposals that it tries, 1 to 5.'),
    },
  },
  {
    name: 'dev',
    summary: 'Apply service.yaml on every change and chat with the draft.',
    scopes: ['setup', 'runtime'],
    mcp: false,
    input: { folder },
  },
  {
    name: 'functions serve',
    summary: 'Answer the calls of a deployment’s functions with a module’s exports.',
    scopes: ['runtime'],
    mcp: false,
    input: {
      file: text(1, 4096).describe('The module: TypeScript or JavaScript.'),
      deployment: text(1, 120)
        .optional()
        .describe('The deployment; absent: the one that service.yaml names, next to the file or in this folder.'),
      concurrency: z.int().min(1).max(1000).optional().describe('The maximum number of parallel calls; absent: 10.'),
    },
  },
  {
    name: 'listen',
    summary: 'Forward the org’s events to an address on this machine, signed like deliveries.',
    scopes: ['runtime'],
    mcp: false,
    input: {
      to: webAddress.describe('The local address that receives the events.'),
      types: z.array(z.enum(webhookEventTypes)).max(40).optional().describe('Only events of these types; absent: all.'),
    },
  },
  {
    name: 'start',
    summary: 'Start the server on this machine.',
    scopes: null,
    mcp: false,
    input: {
      port: z
        .int()
        .min(0)
        .max(65_535)
        .optional()
        .describe('The port to listen on; absent: 4600, or the value of PORT.'),
      host: text(1, 253).optional().describe('The address to listen on; absent: 127.0.0.1, or the value of HOST.'),
    },
  },
] as const satisfies readonly CompositeCommand[];

type Row<Name> = Extract<(typeof compositeCommands)[number], { name: Name }>;

/**
 * The input of such a command. Like every command that MCP shows, it accepts a `user`; without one it uses the org’s
 * own agent.
 */
export type CommandInput<Name extends (typeof compositeCommands)[number]['name']> = z.input<
  z.ZodObject<Row<Name>['input']>
> & { user?: string | undefined };
