import type { Tool } from '@vestra/agent/tool';

/** The answer to a call that did not reach a tool, in words for the model. */
export const failed = (code: string, message: string) => ({ output: `${code}: ${message}`, isError: true });

export const awayCall = ({ server }: Tool, why: string) => ({
  ...failed('mcp_server_error', `The server \`${server}\` cannot be called: ${why}`),
  away: why,
});

export const removedCall = ({ server }: Tool) => ({
  ...failed('mcp_server_error', `The server \`${server}\` was removed.`),
  away: 'It was removed.',
});

export const mustSignIn = (app: string) => ({
  output: 'The person is not signed in to this app any more.',
  isError: true,
  mustSignIn: { app },
});
