import { z } from 'zod';

/**
 * An address that the service calls. Plain http passes here, because a development server may allow private addresses.
 * Whether the host is public is known only after DNS resolution.
 */
export const webAddress = z
  .url({ protocol: /^https?$/, error: 'Must be an https URL such as https://example.com/path.' })
  .max(2048, 'Must have at most 2048 characters.');
