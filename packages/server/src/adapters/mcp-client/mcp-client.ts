import type { CalledTool, ToolAnswer } from './call-tool.ts';
import type { McpFailure } from './failure.ts';
import type { ToolList } from './list-tools.ts';
import type { AnsweredQuestions, AskedQuestions } from './server-question.ts';
import type { McpTarget, SessionLimits } from './session.ts';

/** Speaks with the MCP servers that tenants register. What a server does wrong is an answer, never an exception. */
export type McpClient = {
  listTools: (target: McpTarget, options: { signal: AbortSignal }) => Promise<({ ok: true } & ToolList) | McpFailure>;
  /**
   * Calls a tool; the answer is one text of 100,000 characters at most. `hide` takes the credentials out of whatever the
   * server wrote. With `asking` the server may put questions to the person: the call then stops with `asked`, having done
   * nothing yet, and is made again with the answers. Throws the reason of the signal when that ends the call, and nothing else.
   */
  callTool: (
    target: McpTarget,
    tool: CalledTool,
    options: {
      signal: AbortSignal;
      hide: (text: string) => string;
      timeoutMs?: number;
      asking?: AnsweredQuestions | undefined;
      isRepeatable?: boolean | undefined;
    },
  ) => Promise<({ ok: true } & (ToolAnswer | { asked: AskedQuestions })) | McpFailure>;
};

type Dependencies = {
  /** The guarded fetcher: the addresses are the tenants'. */
  fetch: typeof fetch;
  version: string;
  limits?: Partial<SessionLimits>;
};

export function createMcpClient({ fetch, version, limits = {} }: Dependencies): McpClient {
  return {
    async listTools(target, { signal }) {
      // Loaded with the first call: the official client takes 0.3 s and 34 MB, which would count against every start.
      const [{ listTools }, { failureOf }] = await Promise.all([import('./list-tools.ts'), import('./failure.ts')]);
      try {
        return { ok: true, ...(await listTools({ fetch, version, limits }, target, signal)) };
      } catch (error) {
        return failureOf(error, target.url);
      }
    },
    async callTool(target, tool, { timeoutMs, ...options }) {
      const { signal, hide } = options;
      const [{ callTool }, { failureOfCall }] = await Promise.all([import('./call-tool.ts'), import('./failure.ts')]);
      signal.throwIfAborted();
      const bounds = timeoutMs === undefined ? limits : { ...limits, timeoutMs };
      try {
        return { ok: true, ...(await callTool({ fetch, version, limits: bounds }, target, tool, options)) };
      } catch (error) {
        signal.throwIfAborted();
        return failureOfCall(error, target.url, hide);
      }
    },
  };
}
