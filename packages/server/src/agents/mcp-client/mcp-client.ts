import type { McpFailure, McpToolAnswer } from './server-answer.ts';
import type { AskedQuestions, TaskHandle } from './server-requests.ts';
import type { McpTarget, OlderServers, RunSessions, SessionLimits } from './session.ts';
import type { RunningTask } from './tasks.ts';
import type { CalledTool, SessionCallOptions } from './tool-call.ts';
import type { ToolList, WantedResources } from './tool-list.ts';

/** Client of the MCP servers that orgs register. A failing server is a result, never an exception. */
export type McpClient = {
  /** `mayAskModel`: the server may use sampling, and may offer tools that need it. */
  listTools: (
    target: McpTarget,
    options: { signal: AbortSignal; mayAskModel?: boolean },
  ) => Promise<({ ok: true } & ToolList) | McpFailure>;
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
      onProgress?: ((text: string) => void) | undefined;
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
   * Lets the calls of one conversation or task share sessions, also those of its next run in this process. Never share
   * them between owners: a session acts with the credentials that opened it.
   */
  keepSessions: (owner: string) => KeptSessions;
  /** Ends the sessions that no run uses, and resolves when all ended sessions are closed or abandoned. */
  settled: () => Promise<void>;
};

/**
 * The sessions that a run uses. `release` leaves them to the next run of the owner, until they were idle for too long.
 * `close` ends them: it returns at once, never fails, and notifies each server in the background for at most a second.
 */
export type KeptSessions = RunSessions & { release: () => void; close: () => void };

type Dependencies = {
  /** The guarded fetch, because tenants choose the addresses. */
  fetch: typeof fetch;
  version: string;
  limits?: Partial<SessionLimits>;
  /** How long sessions stay open that no run uses. */
  idleMs?: number;
  now?: () => number;
};

export function createMcpClient({
  fetch,
  version,
  limits = {},
  idleMs = defaultIdleMs,
  now = Date.now,
}: Dependencies): McpClient {
  const parts = { fetch, version, olderServers: createOlderServers(now) };
  const closing = new Set<Promise<void>>();
  const idle = new Map<string, { open: RunSessions['open']; timer: NodeJS.Timeout }>();

  function end(open: RunSessions['open']): void {
    if (open.size === 0) return;
    const ended = import('./session.ts')
      .then(({ endSessions }) => endSessions(parts, { open, isClosed: true }))
      .catch(() => {})
      .finally(() => closing.delete(ended));
    closing.add(ended);
  }

  function takeIdle(owner: string): RunSessions['open'] | undefined {
    const found = idle.get(owner);
    if (!found) return undefined;
    clearTimeout(found.timer);
    idle.delete(owner);
    return found.open;
  }

  function leaveIdle(owner: string, open: RunSessions['open']): void {
    if (open.size === 0) return;
    end(takeIdle(owner) ?? none);
    const [oldest] = idle.keys();
    if (oldest !== undefined && idle.size >= maxIdle) end(takeIdle(oldest) ?? none);
    const timer = setTimeout(() => end(takeIdle(owner) ?? none), idleMs);
    timer.unref();
    idle.set(owner, { open, timer });
  }

  return {
    async listTools(target, options) {
      // Loaded on the first call: the official client takes 0.3 s and 34 MB, which would slow down every start.
      const [{ listTools }, { failureOf }] = await Promise.all([
        import('./tool-list.ts'),
        import('./server-answer.ts'),
      ]);
      try {
        return { ok: true, ...(await listTools({ ...parts, limits }, target, options)) };
      } catch (error) {
        return failureOf(error, target);
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
        return underWay ? { ok: true, underWay } : failureOfCall(error, target, hide);
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
        return failureOfCall(error, target, hide);
      }
    },
    async waitForChange(target, options) {
      const { waitForChange } = await import('./tool-list.ts');
      return waitForChange({ ...parts, limits }, target, options).catch(() => false);
    },
    keepSessions(owner) {
      const leave = (then: (open: RunSessions['open']) => void) => {
        if (sessions.isClosed) return;
        sessions.isClosed = true;
        then(sessions.open);
      };
      const sessions: KeptSessions = {
        open: takeIdle(owner) ?? new Map(),
        isClosed: false,
        release: () => leave((open) => leaveIdle(owner, open)),
        close: () => leave(end),
      };
      return sessions;
    },
    async settled() {
      for (const owner of [...idle.keys()]) end(takeIdle(owner) ?? none);
      await Promise.all(closing);
    },
  };
}

const none: RunSessions['open'] = new Map();
/** A person may need some minutes to approve the next call. */
const defaultIdleMs = 600_000;
const maxIdle = 1000;

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
