import { z } from 'zod';

/** Why the tools of a server or app could not be offered to the agent. */
const awayReasons = [
  'unreachable',
  'credentials_refused',
  'secret_missing',
  'user_secret_missing',
  'secret_unusable',
  'sign_in_over',
  'removed',
  'too_many_tools',
  'rejected_by_provider',
] as const;

export type AwayReason = (typeof awayReasons)[number];

export const missingTools = z
  .array(
    z.object({
      server: z.string().describe('The slug of the server, the id of the app, or the name of your function.'),
      reason: z.enum(awayReasons).describe('Why they were unavailable.'),
      message: z.string().describe('The reason as a sentence for the operator of the deployment.'),
    }),
  )
  .describe('Servers whose tools were unavailable to the agent, and tools that the model’s provider rejected.');

export type MissingTool = z.infer<typeof missingTools>[number];
