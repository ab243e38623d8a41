import { z } from 'zod';
import { memoryModes } from './account.ts';
import { fileComputer } from './computer.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import {
  actsAs,
  approves,
  goal,
  mustNever,
  persona,
  recordedCalls,
  runs,
  scenarioLine,
  scenarioName,
  successCriteria,
  toolResults,
} from './scenario-fields.ts';
import { companySecretReference } from './secret-reference.ts';
import { browser, builtInSkill, commonSettings, companySkill } from './settings.ts';
import { deploymentSlug } from './slug.ts';
import { text } from './text.ts';
import { timeZone } from './time-zone.ts';
import { functionEntry, serverEntry } from './tool-entry.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';
import { webhooks } from './webhooks.ts';

/** A local folder or file. Only the CLI and the SDK can read it; the API rejects it as not resolved. */
const localPath = text(1, 500);

const test = z.strictObject({
  name: scenarioName,
  ask: goal.describe('The simulated user’s goal, in their own words.'),
  expect: z
    .union([scenarioLine, successCriteria], {
      error: ({ input }) => (input === undefined ? 'This field is required.' : 'Write one line or a list of lines.'),
    })
    .describe('What must be true at the end: one line, or a list of at most 12; all must be met.'),
  never: z
    .union([scenarioLine, mustNever], { error: 'Write one line or a list of lines.' })
    .optional()
    .describe('What must never happen: one line, or a list of at most 12; any one fails the test.'),
  persona: persona.optional().describe('The simulated user; absent: a person who uses this agent for the first time.'),
  tool_results: toolResults.optional(),
  recorded_calls: recordedCalls.optional(),
  approves: approves.optional(),
  runs: runs.optional(),
  as: actsAs.optional(),
});

const routine = z.strictObject({
  name: text(1, 200).optional().describe('Identifies the routine at the next apply; absent: the start of `ask`.'),
  ask: text(1, 8000).describe('The message to the agent at every run.'),
  success_criteria: text(1, 4000)
    .optional()
    .describe('What the result of every run must meet; each run is then a task with an `outcome`.'),
  every: text(1, 100).optional().describe('The schedule in plain words, such as `weekday at 08:00` or `30 minutes`.'),
  cron: text(1, 120).optional().describe('The schedule as five cron fields, instead of `every`.'),
  on: z
    .literal('call')
    .optional()
    .describe('`call`: it runs whenever your system posts to its address, instead of on a schedule.'),
  timezone: timeZone().optional().describe('The IANA time zone of the schedule; absent: the user’s, then UTC.'),
  filters: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('With `on: call`: fields and values that a payload must contain.'),
  enabled: z.boolean().default(true).describe('False: it is saved but does not run.'),
  for: z
    .union([userId(), z.array(userId()).min(1).max(100, 'At most 100 users.')], {
      error: 'Write a user id or a list of user ids.',
    })
    .optional()
    .describe('The user it runs for, or a list of at most 100; absent: the org’s own agent.'),
});

const webhook = z.strictObject({
  url: webAddress.describe('The public https address that events are posted to.'),
  events: webhooks.create.body.shape.events,
  description: text(0, 500).optional().describe('A note about its purpose.'),
  secret: companySecretReference
    .optional()
    .describe(
      'A secret of the company such as `${HOOK_SECRET}` that signs deliveries, stored in each mode as `whsec_…`; absent: one is created and shown once.',
    ),
});

/** `service.yaml`: a whole deployment, sent with PUT as JSON. */
export const deploymentFile = failsWith(
  'invalid_manifest',
  z.strictObject({
    $schema: text(0, 500).optional().describe('The address of this schema, for editors; the service ignores it.'),
    name: deploymentSlug.describe('The deployment’s name in URLs: lowercase letters, digits and dashes, at most 63.'),
    ...commonSettings,
    tools: z
      .array(
        z.union([serverEntry, functionEntry], {
          error: 'Write an object with `mcp` for a server or `function` for a function.',
        }),
      )
      .max(50, 'At most 50 tools.')
      .default([])
      .describe('MCP servers, each with `mcp`, and functions of your code, each with `function`; at most 50.'),
    skills: z
      .union(
        [
          localPath,
          z
            .array(
              z.union([localPath, companySkill, builtInSkill], {
                error: 'Write a folder, or an object with `id` or `name`.',
              }),
            )
            .max(100, 'At most 100 skills.'),
        ],
        { error: 'Write a folder or a list of skills.' },
      )
      .default([])
      .describe('A folder of skills, or a list of folders, of skills by `id`, and of built-in ones by `name`.'),
    knowledge: z
      .union(
        [
          localPath,
          z
            .array(
              z.union(
                [
                  localPath,
                  z.strictObject({
                    notebook: id('nb').describe('The id of an existing notebook, `nb_` and 24 characters.'),
                  }),
                ],
                {
                  error: 'Write a path, or an object with `notebook`.',
                },
              ),
            )
            .max(50, 'At most 50 entries.'),
        ],
        { error: 'Write a path or a list.' },
      )
      .default([])
      .describe('A folder or file to read from, or a list of paths and of notebooks by `notebook`.'),
    memory: z
      .enum(memoryModes)
      .optional()
      .describe(
        'Who stores memory about users: the service (`vestra`), your endpoint (`customer`), or nobody (`none`); absent: the org’s setting.',
      ),
    computer: fileComputer.optional().describe('How the agent’s computer is prepared before its first task.'),
    browser: browser
      .optional()
      .describe(
        'Which sites the user’s browser may open; absent: a fetch opens nothing, and the agent may open any page.',
      ),
    routines: z
      .array(routine)
      .max(50, 'At most 50 routines.')
      .default([])
      .describe('Tasks that the agent runs on a schedule or on a call; they belong to this file.'),
    tests: z
      .array(test)
      .max(100, 'At most 100 tests.')
      .default([])
      .describe('Scenarios that run before a version goes live; they belong to this file.'),
    webhooks: z
      .array(webhook)
      .max(10, 'At most 10 webhook endpoints.')
      .default([])
      .describe('Addresses that receive this deployment’s events; they belong to this file.'),
  }),
);
