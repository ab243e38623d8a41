import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { Computers } from '../../computers/running-computer.ts';
import type { Engine } from '../../engine/index.ts';
import { operatorRoutes } from '../../platform/http/operator-routes.ts';
import { createHealth, type Health } from '../health/health.ts';
import type { Kernel } from '../kernel.ts';
import { addServerMetrics } from './metrics.ts';

export type OperatorParts = {
  health: () => Promise<Health>;
  /** `/metrics` and `/health/*`, beside the API. */
  pages: (app: Hono) => void;
  /** The same and nothing else. */
  app: () => Hono;
  /** Ready from now on. */
  started: () => void;
  /**
   * Not ready from now on. Whoever sends requests here is given the time to hear that they are to go elsewhere, while
   * each is still answered.
   */
  drain: () => Promise<void>;
};

/** What whoever runs this process sees of it. */
export function assembleOperator(
  kernel: Kernel,
  parts: { engine: Engine; computers: Computers; countBrowsers: () => number },
): OperatorParts {
  const { config, lookAtDatabase, metrics } = kernel;
  let hasStarted = false;
  let isDraining = false;
  const whyNot = () => {
    if (isDraining || parts.engine.runner.isLeaving()) return 'The server is going down.';
    return hasStarted ? null : 'The server is starting.';
  };
  const health = createHealth({ look: lookAtDatabase, whyNot });
  addServerMetrics(kernel, { ...parts, health });
  const pages = operatorRoutes({ health, metrics: metrics.registry.write, metricsToken: config.metricsToken });
  return {
    health,
    pages,
    app() {
      const app = new Hono();
      pages(app);
      return app;
    },
    started() {
      hasStarted = true;
    },
    async drain() {
      isDraining = true;
      if (config.drainMs > 0) await sleep(config.drainMs);
    },
  };
}
