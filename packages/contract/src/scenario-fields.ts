import { z } from 'zod';
import { recordOfAtMost } from './record-of-at-most.ts';
import { companySecretReference, secretName } from './secret-reference.ts';
import { text } from './text.ts';
import { userId } from './user-id.ts';

/** The parts of a scenario that the API and the deployment file's `tests` share. */

export const scenarioName = text(1, 120).describe('The name of the test; unique within the deployment’s file.');
export const persona = text(1, 2000).describe('The simulated user and how they talk.');
export const goal = text(1, 2000).describe('The simulated user’s goal, in their own words.');

export const scenarioLine = text(1, 500);
export const successCriteria = z
  .array(scenarioLine)
  .min(1, 'Give at least one line.')
  .max(12, 'At most 12 lines.')
  .describe('What must be true at the end, 1 to 12 lines; all must be met.');
export const mustNever = z
  .array(scenarioLine)
  .max(12, 'At most 12 lines.')
  .describe('What must never happen, at most 12 lines; any one fails the test.');

export const approves = z
  .boolean()
  .describe(
    'True: the simulated user approves functions and tools of the deployment’s MCP servers; all other approvals are declined.',
  );

export const runs = z
  .int('Write a whole number from 1 to 5.')
  .min(1, 'Play it at least once.')
  .max(5, 'At most 5 runs.')
  .describe('How often the test is played, 1 to 5; it passes only if every run does. Absent: once.');

/** The user of a test in a file. Nothing else of a user is read: no memory, no files, no stored secret. */
export const actsAs = z
  .strictObject({
    user_id: userId()
      .optional()
      .describe('The test reads the notebooks that this user may read; the user need not exist.'),
    secrets: recordOfAtMost(20, 'secrets', z.record(secretName, companySecretReference))
      .optional()
      .describe('By the name of a user’s secret, the company’s secret that stands in for it, such as `${TEST_TOKEN}`.'),
  })
  .describe('The user that the test is played as; absent: none.');

/** Keys are names of declared tools, or `<server_slug>.<tool>`. */
export const toolResults = recordOfAtMost(20, 'tool results', z.record(z.string(), z.unknown())).describe(
  'Tool results in this test, by the name of a declared tool or `<server slug>.<tool>`; a tool without an entry returns an error.',
);

const recordedCallLimit = 50;

/** For a tool that answers successive calls differently, as in a recorded conversation. */
export const recordedCalls = z
  .array(
    z.strictObject({
      tool: text(1, 200).describe('The name of a declared tool, or `<server slug>.<tool>`.'),
      arguments: z
        .record(z.string(), z.unknown())
        .describe('The arguments of the call: only a call with the same arguments gets this result.'),
      result: z.unknown().describe('The tool’s result: text, or any JSON.'),
      is_error: z.boolean().optional().describe('True: the result is a failure of the tool; absent: it is not.'),
    }),
  )
  .max(recordedCallLimit, `At most ${recordedCallLimit} recorded calls.`)
  .describe(
    'Tool results for specific arguments, at most 50 calls; a repeated call gets the next result, and finally the last one. Any other call uses `tool_results`.',
  );
