import { z } from 'zod';

/** A deployment's name in URLs and in its file. It cannot begin or end with a dash. */
export const deploymentSlug = z
  .string()
  .regex(
    /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    'Use lowercase letters, digits and dashes, a letter or digit at both ends, at most 63.',
  );

/** The name of a notebook or an MCP server. */
export const shortSlug = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'Use lowercase letters, digits and hyphens, a letter first, at most 40.');
