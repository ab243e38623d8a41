import { z } from 'zod';
import { memoryModes } from './account.ts';
import { computer } from './computer.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { goal, persona, scenarioLine, scenarioName, successCriteria, toolResults } from './scenario-fields.ts';
import { browser, builtInSkill, commonSettings, companySkill } from './settings.ts';
import { deploymentSlug } from './slug.ts';
import { text } from './text.ts';
import { timeZone } from './time-zone.ts';
import { functionEntry, serverEntry } from './tool-entry.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';
import { webhooks } from './webhooks.ts';

/** A local folder or file. Only the CLI and the SDK can read it; over HTTP it is refused as not resolved. */
const localPath = text(1, 500);

const test = z.strictObject({
  name: scenarioName,
  ask: goal,
  expect: z.union([scenarioLine, successCriteria], {
    error: ({ input }) => (input === undefined ? 'This field is required.' : 'Write one line or a list of lines.'),
  }),
  never: scenarioLine.optional(),
  persona: persona.optional(),
  tool_results: toolResults.optional(),
});

const routine = z.strictObject({
  name: text(1, 200).optional(),
  ask: text(1, 8000),
  every: text(1, 100).optional(),
  cron: text(1, 120).optional(),
  on: z.literal('call').optional(),
  timezone: timeZone().optional(),
  filters: z.record(z.string(), z.unknown()).optional(),
  enabled: z.boolean().default(true),
  /** Absent: the org's own agent. */
  for: z
    .union([userId(), z.array(userId()).min(1).max(100, 'At most 100 users.')], {
      error: 'Write a user id or a list of user ids.',
    })
    .optional(),
});

const webhook = z.strictObject({
  url: webAddress,
  events: webhooks.create.body.shape.events,
  description: text(0, 500).optional(),
});

/** `service.yaml`: a whole deployment, applied by PUT as JSON. */
export const deploymentFile = failsWith(
  'invalid_manifest',
  z.strictObject({
    $schema: text(0, 500).optional(),
    name: deploymentSlug,
    ...commonSettings,
    tools: z
      .array(
        z.union([serverEntry, functionEntry], {
          error: 'Write an object with `mcp` for a server or `function` for a function.',
        }),
      )
      .max(50, 'At most 50 tools.')
      .default([]),
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
      .default([]),
    knowledge: z
      .union(
        [
          localPath,
          z
            .array(
              z.union([localPath, z.strictObject({ notebook: id('nb') })], {
                error: 'Write a path, or an object with `notebook`.',
              }),
            )
            .max(50, 'At most 50 entries.'),
        ],
        { error: 'Write a path or a list.' },
      )
      .default([]),
    /** Absent: as the org has it. */
    memory: z.enum(memoryModes).optional(),
    computer: computer.optional(),
    browser: browser.optional(),
    routines: z.array(routine).max(50, 'At most 50 routines.').default([]),
    tests: z.array(test).max(100, 'At most 100 tests.').default([]),
    webhooks: z.array(webhook).max(10, 'At most 10 webhook endpoints.').default([]),
  }),
);
