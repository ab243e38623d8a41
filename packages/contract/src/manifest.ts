import { z } from 'zod';
import { memoryModes } from './account.ts';
import { computer } from './computer.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { recordOfAtMost } from './record-of-at-most.ts';
import { browser, builtInSkill, commonSettings, companySkill } from './settings.ts';
import { shortSlug } from './slug.ts';
import { functionEntry, toolPolicy } from './tool-entry.ts';
import { webAddress } from './web-address.ts';

/** The settings of a version. They can be sent back unchanged. */
export const manifest = failsWith(
  'invalid_manifest',
  z.strictObject({
    ...commonSettings,
    mcp_servers: z
      .array(
        z.strictObject({
          id: id('mcp'),
          slug: shortSlug.optional().describe('The server’s name for the agent; ignored in requests.'),
          url: webAddress.optional().describe('The address of the server; ignored in requests.'),
        }),
      )
      .max(50, 'At most 50 servers.')
      .default([])
      .describe('Registered MCP servers that the agent may use; the id is enough.'),
    mcp_tool_policy: recordOfAtMost(
      50,
      'servers',
      z.record(shortSlug, toolPolicy, {
        error: (issue) => (issue.code === 'invalid_key' ? 'Name a server by its slug.' : undefined),
      }),
    )
      .default({})
      .describe('By the slug of a server: additions of this version to the server’s own lists.'),
    tools: z
      .array(functionEntry)
      .max(50, 'At most 50 tools.')
      .default([])
      .describe('Functions that your code answers, at most 50.'),
    skills: z
      .array(z.union([companySkill, builtInSkill], { error: 'Write an object with `id` or `name`.' }))
      .max(100, 'At most 100 skills.')
      .default([])
      .describe('Skills of the org by `id` and built-in ones by `name`, at most 100.'),
    notebooks: z
      .array(id('nb'))
      .max(50, 'At most 50 notebooks.')
      .default([])
      .describe('Ids of the notebooks that the agent reads, at most 50.'),
    memory: z
      .enum(memoryModes)
      .nullable()
      .default(null)
      .describe('Who stores memory about users; null: the org’s setting.'),
    environment: computer
      .nullable()
      .default(null)
      .describe('How the agent’s computer is prepared; `computer` in the file.'),
    browser: browser
      .nullable()
      .default(null)
      .describe(
        'Which sites the user’s browser may open; null: a fetch opens nothing, and the agent may open any page.',
      ),
  }),
);

/** The manifest in responses: unknown fields of a later release do not break a reader. */
export const shownManifest = z.object(manifest.shape).extend({
  mcp_servers: z
    .array(
      z.object({
        id: id('mcp'),
        slug: z.string().describe('The server’s name for the agent.'),
        url: z.string().describe('The address of the server.'),
      }),
    )
    .describe('Registered MCP servers that the agent may use.'),
});
