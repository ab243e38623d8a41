import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import type { Registry } from './registry.ts';

/** A loop that is held up for less harms nobody. */
const lookEveryMs = 20;

/** How this process is, by the names that every Node program has in Prometheus. */
export function addProcessMetrics(registry: Registry): { stop: () => void } {
  const startedAt = Date.now() / 1000 - process.uptime();
  const loop = monitorEventLoopDelay({ resolution: lookEveryMs });
  loop.enable();
  const collections = countCollections(registry);

  registry.ask({ name: 'process_start_time_seconds', help: 'When the process began, in Unix time.' }, () => startedAt);
  registry.ask({ name: 'process_cpu_seconds_total', help: 'Processor time used.', type: 'counter' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.ask({ name: 'process_resident_memory_bytes', help: 'Memory in use.' }, () => process.memoryUsage.rss());
  registry.ask({ name: 'process_open_fds', help: 'Open files and sockets.' }, async () => {
    const open = await readdir('/proc/self/fd').catch(() => null);
    return open?.length ?? null;
  });
  registry.ask({ name: 'nodejs_heap_size_used_bytes', help: 'Heap in use.' }, () => process.memoryUsage().heapUsed);
  registry.ask(
    {
      name: 'nodejs_eventloop_lag_seconds',
      help: 'How long the loop was held up since the last read.',
      labels: ['percentile'],
    },
    () => {
      if (loop.count === 0) return null;
      // What is measured is the time from look to look.
      const late = (measured: number) => Math.max(0, measured / 1e9 - lookEveryMs / 1000);
      const lag = [
        { labels: { percentile: '50' }, value: late(loop.percentile(50)) },
        { labels: { percentile: '99' }, value: late(loop.percentile(99)) },
        { labels: { percentile: '100' }, value: late(loop.max) },
      ];
      loop.reset();
      return lag;
    },
  );
  registry.ask(
    {
      name: 'nodejs_eventloop_active_seconds_total',
      help: 'Time in which the loop worked; its rate is how busy it is.',
      type: 'counter',
    },
    () => performance.eventLoopUtilization().active / 1000,
  );
  return {
    stop() {
      loop.disable();
      collections.stop();
    },
  };
}

const kinds: Record<number, string> = { 1: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' };

function countCollections(registry: Registry): { stop: () => void } {
  const seconds = registry.counter({
    name: 'nodejs_gc_duration_seconds_total',
    help: 'Time spent on collecting garbage.',
    labels: ['kind'],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail: { kind } = {} } = entry as PerformanceEntry & { detail?: { kind?: number } };
      seconds.add({ kind: kinds[kind ?? 0] ?? 'other' }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return { stop: () => observer.disconnect() };
}
