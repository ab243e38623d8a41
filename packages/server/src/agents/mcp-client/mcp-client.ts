import type { McpFailure, McpToolAnswer } from './server-answer.ts';
import type { AskedQuestions, TaskHandle } from './server-requests.ts';
import type { McpTarget, OlderServers, RunSessions, SessionLimits } from './session.ts';
import type { RunningTask } from './tasks.ts';
import type { CalledTool, SessionCallOptions } from './tool-call.ts';
import type { ToolList, WantedResources } from './tool-list.ts';

/** Client of the MCP servers that orgs register. A failing server is a result, never an exception. */
export type McpClient = {
  listTools: (target: McpTarget, options: { signal: AbortSignal }) => Promise<({ ok: true } & ToolList) | McpFailure>;
  /**
   * Calls a tool and returns one text of at most 100,000 characters. `hide` removes credentials from the server's text.
   * With `asking` the server may ask the person: the call stops with `asked`, without effect, and is repeated with the
   * answers. If the server continues the call as a task, the result is `underWay`; repeat the call with `following`.
   * With `sample` the server may ask a model. Throws only the reason of an aborted signal.
   */
  callTool: (
    target: McpTarget,
    tool: CalledTool,
    options: SessionCallOptions & {
      timeoutMs?: number;
      following?: TaskHandle | undefined;
      isRepeatable?: boolean | undefined;
      onListChange?: (() => void) | undefined;
    },
  ) => Promise<({ ok: true } & (McpToolAnswer | { asked: AskedQuestions } | { underWay: RunningTask })) | McpFailure>;
  /** Cancels a task. Errors of the server are ignored. */
  cancelCall: (target: McpTarget, task: TaskHandle, options: { signal: AbortSignal }) => Promise<void>;
  /** Reads a resource of the server, or a page of the list of resources. */
  readResources: (
    target: McpTarget,
    wanted: WantedResources,
    options: SessionCallOptions,
  ) => Promise<({ ok: true } & McpToolAnswer) | McpFailure>;
  /** Returns whether the server reports changed tools or resources within `forMs`. */
  waitForChange: (target: McpTarget, options: { signal: AbortSignal; forMs: number }) => Promise<boolean>;
  /**
   * Lets the calls of one run share sessions. Never share them between runs: a session acts with the credentials that
   * opened it.
   */
  keepSessions: () => KeptSessions;
  /** Resolves when the sessions of all ended runs are closed or abandoned. */
  settled: () => Promise<void>;
};

/** `close` returns at once and never fails; it notifies the servers in the background, each for at most a second. */
export type KeptSessions = RunSessions & { close: () => void };

type Dependencies = {
  /** The guarded fetch, because tenants choose the addresses. */
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
      // Loaded on the first call: the official client takes 0.3 s and 34 MB, which would slow down every start.
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
      const [{ callTool }, { retryUnreachableTask }, { failureOfCall }] = await Promise.all([
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
        const underWay = options.following && retryUnreachableTask(options.following, error);
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
    async waitForChange(target, options) {
      const { waitForChange } = await import('./tool-list.ts');
      return waitForChange({ ...parts, limits }, target, options).catch(() => false);
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
const maxRemembered = 1000;

/** Entries expire after ten minutes, because a server may be upgraded to the newer protocol. */
function createOlderServers(now: () => number): OlderServers {
  const until = new Map<string, number>();
  return {
    has(url) {
      const isRemembered = (until.get(url) ?? 0) > now();
      if (!isRemembered) until.delete(url);
      return isRemembered;
    },
    add(url) {
      if (until.size >= maxRemembered) until.delete(until.keys().next().value as string);
      until.set(url, now() + rememberedMs);
    },
    delete: (url) => void until.delete(url),
  };
}
