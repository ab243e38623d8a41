import { describe, expect, it } from 'vitest';
import { type CgroupSetting, divisibleCgroup, groupFiles } from './cgroups.ts';

const plain = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';
const old = '31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
const ofContainer = '812 800 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw';
const nobodys = 'VESTRA_CGROUP is not set, and the cgroup of this process may belong to another program';

describe('the cgroup that is divided among computers', () => {
  it.each<[string, CgroupSetting, string, string, ReturnType<typeof divisibleCgroup>]>([
    ['is a container’s own', null, plain, '0::/', { folder: '/sys/fs/cgroup' }],
    [
      'is a container’s own, seen without a namespace',
      'own',
      ofContainer,
      '0::/docker/abc',
      { folder: '/sys/fs/cgroup' },
    ],
    ['is not that of a session', null, plain, '0::/user.slice/session-3.scope', nobodys],
    ['is not that of a service that says nothing', null, plain, '0::/system.slice/vestra.service', nobodys],
    [
      'is that of a service that says so',
      'own',
      plain,
      '0::/system.slice/vestra.service',
      { folder: '/sys/fs/cgroup/system.slice/vestra.service' },
    ],
    ['is what an operator names', '/sys/fs/cgroup/agents', plain, '0::/x', { folder: '/sys/fs/cgroup/agents' }],
    [
      'is none where the machine has the old ones',
      'own',
      old,
      '4:memory:/x',
      'the machine has no cgroups of version 2',
    ],
    [
      'is none where nothing tells which',
      'own',
      plain,
      '4:memory:/x',
      'the group of this process cannot be seen from here',
    ],
    [
      'is none outside of the namespace',
      'own',
      plain,
      '0::/../other',
      'the group of this process cannot be seen from here',
    ],
    ['is none where it is switched off', 'off', plain, '0::/', 'VESTRA_CGROUP=off'],
  ])('%s [CMP-283]', (_what, setting, mounts, groups, expected) => {
    expect(
      divisibleCgroup(setting, { mounts: `1 1 8:1 / / rw - ext4 /dev/vda rw\n${mounts}\n`, groups: `${groups}\n` }),
    ).toEqual(expected);
  });

  it('allows a computer slightly more than the server does, no swap, and spare processors', () => {
    const limits = { memoryBytes: 2 ** 31, tasks: 1024, cpus: null };
    expect(Object.fromEntries(groupFiles(limits))).toEqual({
      'memory.max': String(2 ** 31 * 1.125),
      'memory.swap.max': '0',
      'pids.max': '1024',
      'cpu.weight': '50',
      'cpu.max': 'max 100000',
    });
    expect(groupFiles({ ...limits, cpus: 1.5 })).toContainEqual(['cpu.max', '150000 100000']);
  });
});
