import type { Tool } from '@vestra/agent/tool';
import { expect, it } from 'vitest';
import { limitServerTools } from './missing-tools.ts';

const tool = (server: string | null, at: number): Tool => ({
  definition: { name: `${server}_${at}`, description: '', inputSchema: {} },
  origin:
    server === null
      ? { from: 'agent', isReadOnly: true }
      : { from: 'server', name: `${at}`, floor: { deny: [], require_approval: [] }, policy: null, isReadOnly: true },
  server,
  effect: { kind: 'run' },
});

it.each<[string, Record<string, number>, Record<string, number>]>([
  ['few tools', { a: 10, b: 20 }, { a: 10, b: 20 }],
  ['one large server before a small one', { a: 201, b: 9 }, { a: 109, b: 9 }],
  ['two large servers', { a: 201, b: 118 }, { a: 59, b: 59 }],
  ['three servers, of which one leaves some of its share', { a: 300, b: 100, c: 5 }, { a: 57, b: 56, c: 5 }],
])('tools are shared fairly between servers: %s [MCPS-722]', (_what, offered, kept) => {
  const own = Array.from({ length: 10 }, (_, at) => tool(null, at));
  const all = Object.entries(offered).flatMap(([server, count]) =>
    Array.from({ length: count }, (_, at) => tool(server, at)),
  );
  const result = limitServerTools([...own, ...all]);
  const counts = Map.groupBy(result.all, ({ server }) => server);
  expect(counts.get(null)).toHaveLength(10);
  expect(Object.fromEntries(Object.keys(offered).map((server) => [server, counts.get(server)?.length]))).toEqual(kept);
  // The first tools of each server stay, in their order.
  expect(counts.get('a')?.map(({ definition }) => definition.name)).toEqual(
    Array.from({ length: kept.a as number }, (_, at) => `a_${at}`),
  );
  expect(result.leftOut).toHaveLength(all.length + 10 - result.all.length);
});
