import { z } from 'zod';

/**
 * An address the service calls. Plain http passes here because a development server may open private
 * addresses; whether the host is public is known only where its name is resolved.
 */
export const webAddress = z
  .url({ protocol: /^https?$/, error: 'Must be an https URL such as https://example.com/path.' })
  .max(2048, 'Must have at most 2048 characters.');
