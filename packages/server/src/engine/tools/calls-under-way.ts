import type { Tool } from '@vestra/agent/tool';
import type { RunTools } from './run-tools.ts';

const longestMs = 10_000;

/** Knows which calls of a run their tools go on with by themselves, so that these hear it when nobody waits any more. */
export function createUnderWay(inner: RunTools): { tools: RunTools; cancel: () => void } {
  const calls = new Map<string, { tool: Tool; handle: unknown }>();
  const tools: RunTools = {
    ...inner,
    async run(call, tool, signal, soFar) {
      if (soFar.underWay !== undefined) calls.set(call.id, { tool, handle: soFar.underWay });
      const outcome = await inner.run(call, tool, signal, soFar);
      if (outcome.kind === 'under_way') calls.set(call.id, { tool, handle: outcome.handle });
      else if (outcome.kind === 'result') calls.delete(call.id);
      return outcome;
    },
  };
  return {
    tools,
    cancel() {
      const signal = AbortSignal.timeout(longestMs);
      for (const { tool, handle } of calls.values()) void inner.cancel(tool, handle, signal).catch(() => {});
    },
  };
}
