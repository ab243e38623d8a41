import type { Engine } from '../engine/index.ts';
import { lazyHandler, lazyRoutes } from '../platform/http/handler.ts';
import type { Streams } from '../platform/http/streams.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { version } from '../platform/version.ts';
import type { HandleRequest } from './api-client.ts';

type EdgeServices = {
  engine: Engine;
  linkTo: (publicUrl: string) => (fileId: string) => string;
  /** Answers a request without a socket. */
  answer: HandleRequest;
};

/** Each protocol is loaded by its first request. */
export const register = ({ config, db, log }: Kernel, { engine, linkTo, answer }: EdgeServices): Registration => ({
  routes({ publicUrl, streams }) {
    const edges = { answer, hold: streams.open as Streams['open'], log };
    const openai = async () => (await import('./openai/endpoint.ts')).openaiEndpoint({ ...edges, engine });
    return {
      protocols: {
        mcp: lazyHandler(async () => {
          const { mcpEndpoint } = await import('./mcp/endpoint.ts');
          return mcpEndpoint({ ...edges, publicUrl, host: config.host, version });
        }),
        a2a: lazyHandler(async () => {
          const { a2aEndpoint } = await import('./a2a/endpoint.ts');
          return a2aEndpoint({ ...edges, engine, linkTo: linkTo(publicUrl) });
        }),
        agentCard: lazyHandler(async () => {
          const { agentCard } = await import('./a2a/agent-card.ts');
          return agentCard({ db, publicUrl });
        }),
      },
      openai: lazyRoutes('openai', openai),
      agUi: {
        run: lazyHandler(async () => {
          const { agUiEndpoint } = await import('./ag-ui/endpoint.ts');
          return agUiEndpoint({ ...edges, engine });
        }),
      },
    };
  },
});
