import type { CalledTool } from './call-tool.ts';
import type { McpFailure } from './failure.ts';
import type { ToolList } from './list-tools.ts';
import type { WantedResources } from './read-resources.ts';
import type { Sample } from './sampling.ts';
import type { AnsweredQuestions, AskedQuestions, TaskHandle } from './server-question.ts';
import type { McpTarget, SessionLimits } from './session.ts';
import type { UnderWay } from './tasks.ts';
import type { ToolAnswer } from './tool-answer.ts';

/** Speaks with the MCP servers that tenants register. What a server does wrong is an answer, never an exception. */
export type McpClient = {
  listTools: (target: McpTarget, options: { signal: AbortSignal }) => Promise<({ ok: true } & ToolList) | McpFailure>;
  /**
   * Calls a tool; the answer is one text of 100,000 characters at most. `hide` takes the credentials out of whatever the
   * server wrote. With `asking` the server may put questions to the person: the call then stops with `asked`, having done
   * nothing yet, and is made again with the answers. Where the server goes on with the call as a task it comes back at once with
   * `underWay`, and is made again `following` that. With `sample` the server may ask a model. Throws the reason of the signal when
   * that ends the call, and nothing else.
   */
  callTool: (
    target: McpTarget,
    tool: CalledTool,
    options: {
      signal: AbortSignal;
      hide: (text: string) => string;
      timeoutMs?: number;
      asking?: AnsweredQuestions | undefined;
      sample?: Sample | undefined;
      following?: TaskHandle | undefined;
      isRepeatable?: boolean | undefined;
      onListChange?: (() => void) | undefined;
    },
  ) => Promise<({ ok: true } & (ToolAnswer | { asked: AskedQuestions } | { underWay: UnderWay })) | McpFailure>;
  /** Tells a server that nobody waits for a task of it any more. Whether it hears that is not said. */
  cancelCall: (target: McpTarget, task: TaskHandle, options: { signal: AbortSignal }) => Promise<void>;
  /** A resource of the server, or what resources there are, like an answer of a tool. */
  readResources: (
    target: McpTarget,
    wanted: WantedResources,
    options: { signal: AbortSignal; hide: (text: string) => string },
  ) => Promise<({ ok: true } & ToolAnswer) | McpFailure>;
  /** Whether the server said within `forMs` that its tools or resources have changed. */
  hearChange: (target: McpTarget, options: { signal: AbortSignal; forMs: number }) => Promise<boolean>;
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
      const [{ callTool }, { unheardOf }, { failureOfCall }] = await Promise.all([
        import('./call-tool.ts'),
        import('./tasks.ts'),
        import('./failure.ts'),
      ]);
      signal.throwIfAborted();
      const bounds = timeoutMs === undefined ? limits : { ...limits, timeoutMs };
      try {
        return { ok: true, ...(await callTool({ fetch, version, limits: bounds }, target, tool, options)) };
      } catch (error) {
        signal.throwIfAborted();
        const underWay = options.following && unheardOf(options.following, error);
        return underWay ? { ok: true, underWay } : failureOfCall(error, target.url, hide);
      }
    },
    async cancelCall(target, task, { signal }) {
      const { cancelCall } = await import('./call-tool.ts');
      await cancelCall({ fetch, version, limits }, target, task, signal).catch(() => {});
    },
    async readResources(target, wanted, { signal, hide }) {
      const [{ readResources }, { failureOfCall }] = await Promise.all([
        import('./read-resources.ts'),
        import('./failure.ts'),
      ]);
      try {
        return { ok: true, ...(await readResources({ fetch, version, limits }, target, wanted, { signal, hide })) };
      } catch (error) {
        signal.throwIfAborted();
        return failureOfCall(error, target.url, hide);
      }
    },
    async hearChange(target, options) {
      const { hearChange } = await import('./hear-changes.ts');
      return hearChange({ fetch, version, limits }, target, options).catch(() => false);
    },
  };
}
