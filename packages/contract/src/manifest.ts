import { z } from 'zod';
import { memoryModes } from './account.ts';
import { computer } from './computer.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { browser, builtInSkill, commonSettings, companySkill } from './settings.ts';
import { shortSlug } from './slug.ts';
import { functionEntry, toolPolicy } from './tool-entry.ts';
import { webAddress } from './web-address.ts';

/** The settings of a version. What a version shows can be sent back as it is. */
export const manifest = failsWith(
  'invalid_manifest',
  z.strictObject({
    ...commonSettings,
    /** The id is enough; `slug` and `url` are what a version shows. */
    mcp_servers: z
      .array(z.strictObject({ id: id('mcp'), slug: shortSlug.optional(), url: webAddress.optional() }))
      .max(50, 'At most 50 servers.')
      .default([]),
    mcp_tool_policy: z
      .record(shortSlug, toolPolicy, {
        error: (issue) => (issue.code === 'invalid_key' ? 'Name a server by its slug.' : undefined),
      })
      .default({}),
    tools: z.array(functionEntry).max(50, 'At most 50 tools.').default([]),
    skills: z
      .array(z.union([companySkill, builtInSkill], { error: 'Write an object with `id` or `name`.' }))
      .max(100, 'At most 100 skills.')
      .default([]),
    notebooks: z.array(id('nb')).max(50, 'At most 50 notebooks.').default([]),
    /** Null: as the org has it. */
    memory: z.enum(memoryModes).nullable().default(null),
    environment: computer.nullable().default(null),
    browser: browser.nullable().default(null),
  }),
);

/** The manifest as a version shows it: unknown fields of a later release do not break a reader. */
export const shownManifest = z
  .object(manifest.shape)
  .extend({ mcp_servers: z.array(z.object({ id: id('mcp'), slug: z.string(), url: z.string() })) });
