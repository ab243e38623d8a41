import type { McpFailure, ToolAnswer } from './server-answer.ts';
import type { AskedQuestions, TaskHandle } from './server-requests.ts';
import type { McpTarget, OlderServers, RunSessions, SessionLimits } from './session.ts';
import type { UnderWay } from './tasks.ts';
import type { CalledTool, CallInSession } from './tool-call.ts';
import type { ToolList, WantedResources } from './tool-list.ts';

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
    options: CallInSession & {
      timeoutMs?: number;
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
    options: CallInSession,
  ) => Promise<({ ok: true } & ToolAnswer) | McpFailure>;
  /** Whether the server said within `forMs` that its tools or resources have changed. */
  hearChange: (target: McpTarget, options: { signal: AbortSignal; forMs: number }) => Promise<boolean>;
  /**
   * Lets the calls of one run share their sessions with servers that keep state. Give it to no other run: a
   * session acts with the credentials that opened it.
   */
  keepSessions: () => KeptSessions;
  /** When the sessions of all ended runs are closed, or given up. */
  settled: () => Promise<void>;
};

/** `close` returns at once and never fails; it notifies the servers in the background, each for at most a second. */
export type KeptSessions = RunSessions & { close: () => void };

type Dependencies = {
  /** The guarded fetcher: the addresses are the tenants'. */
  fetch: typeof fetch;
  version: string;
  limits?: Partial<SessionLimits>;
  now?: () => number;
};

export function createMcpClient({ fetch, version, limits = {}, now = Date.now }: Dependencies): McpClient {
  const parts = { fetch, version, olderServers: createOlderServers(now) };
  const closing = new Set<Promise<void>>();

  async function end(sessions: RunSessions): Promise<void> {
    const { endSessions } = await import('./session.ts');
    await endSessions(parts, sessions).catch(() => {});
  }

  return {
    async listTools(target, { signal }) {
      // Loaded with the first call: the official client takes 0.3 s and 34 MB, which would count against every start.
      const [{ listTools }, { failureOf }] = await Promise.all([
        import('./tool-list.ts'),
        import('./server-answer.ts'),
      ]);
      try {
        return { ok: true, ...(await listTools({ ...parts, limits }, target, signal)) };
      } catch (error) {
        return failureOf(error, target.url);
      }
    },
    async callTool(target, tool, { timeoutMs, ...options }) {
      const { signal, hide } = options;
      const [{ callTool }, { unheardOf }, { failureOfCall }] = await Promise.all([
        import('./tool-call.ts'),
        import('./tasks.ts'),
        import('./server-answer.ts'),
      ]);
      signal.throwIfAborted();
      const bounds = timeoutMs === undefined ? limits : { ...limits, timeoutMs };
      try {
        return { ok: true, ...(await callTool({ ...parts, limits: bounds }, target, tool, options)) };
      } catch (error) {
        signal.throwIfAborted();
        const underWay = options.following && unheardOf(options.following, error);
        return underWay ? { ok: true, underWay } : failureOfCall(error, target.url, hide);
      }
    },
    async cancelCall(target, task, { signal }) {
      const { cancelCall } = await import('./tool-call.ts');
      await cancelCall({ ...parts, limits }, target, task, signal).catch(() => {});
    },
    async readResources(target, wanted, options) {
      const { signal, hide } = options;
      const [{ readResources }, { failureOfCall }] = await Promise.all([
        import('./tool-call.ts'),
        import('./server-answer.ts'),
      ]);
      try {
        return { ok: true, ...(await readResources({ ...parts, limits }, target, wanted, options)) };
      } catch (error) {
        signal.throwIfAborted();
        return failureOfCall(error, target.url, hide);
      }
    },
    async hearChange(target, options) {
      const { hearChange } = await import('./tool-list.ts');
      return hearChange({ ...parts, limits }, target, options).catch(() => false);
    },
    keepSessions() {
      const sessions: KeptSessions = {
        open: new Map(),
        isClosed: false,
        close() {
          if (sessions.isClosed) return;
          sessions.isClosed = true;
          if (sessions.open.size === 0) return;
          const ended = end(sessions).finally(() => closing.delete(ended));
          closing.add(ended);
        },
      };
      return sessions;
    },
    async settled() {
      await Promise.all(closing);
    },
  };
}

const rememberedMs = 600_000;
const mostRemembered = 1000;

/** Forgets after ten minutes: a server may learn the newer protocol. */
function createOlderServers(now: () => number): OlderServers {
  const until = new Map<string, number>();
  return {
    has(url) {
      const isRemembered = (until.get(url) ?? 0) > now();
      if (!isRemembered) until.delete(url);
      return isRemembered;
    },
    add(url) {
      if (until.size >= mostRemembered) until.delete(until.keys().next().value as string);
      until.set(url, now() + rememberedMs);
    },
    delete: (url) => void until.delete(url),
  };
}
