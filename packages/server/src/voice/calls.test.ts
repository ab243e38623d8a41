import { describe, expect, it, vi } from 'vitest';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { OpenCall } from './call.ts';
import { createHeldCalls } from './calls.ts';

/** Two processes on one database. The test delivers their notifications. */
function startProcesses() {
  const counted = new Map<string, number>();
  const notices: (() => void)[] = [];
  const listeners: ((id: string | null) => void)[] = [];
  const order = {
    next: async (id: string) => {
      counted.set(id, (counted.get(id) ?? 0) + 1);
      return counted.get(id) as number;
    },
    latest: async () => new Map(counted),
  };
  const processNews: ClusterNotifications = {
    notify: (_, id) => void notices.push(() => listeners.map((listen) => listen(id))),
    on: (_, listener) => void listeners.push(listener),
    countWorkers: () => 1,
    stop: async () => {},
  };
  const start = () => {
    const held = createHeldCalls({ order, processNews, log: { warn: vi.fn() } });
    return async (name: string, ended: string[]) => {
      const call: OpenCall = { sdp: name, end: async (why) => void ended.push(`${name} ${why}`), leave: () => {} };
      await held.hold({ sessionId: 'ses_1', orgId: 'org_1', call: Promise.resolve(call), over: Promise.resolve() });
    };
  };
  return { one: start(), two: start(), hearAll: () => vi.waitFor(() => notices.splice(0).map((tell) => tell())) };
}

describe('calls of one session', () => {
  it('leave exactly the last one if they start at the same moment in two processes [VOI-420]', async () => {
    const { one, two, hearAll } = startProcesses();
    const ended: string[] = [];
    await Promise.all([one('first', ended), two('second', ended)]);
    await hearAll();
    await vi.waitFor(() => expect(ended).toContain('first replaced'));
    await hearAll();
    expect(ended.filter((each) => each.startsWith('second'))).toEqual([]);
    await one('third', ended);
    await hearAll();
    await vi.waitFor(() => expect(ended).toContain('second replaced'));
    expect(ended.filter((each) => each.startsWith('third'))).toEqual([]);
  });
});
