import { describe, expect, it } from 'vitest';
import { type Confinement, confine, confinedParts, launch } from './confine.ts';

const bare: Confinement = {
  mounts: [],
  env: {},
  workingFolder: '/home/agent',
  egressSocket: null,
  limits: { processes: 7, fileBytes: 1000, memoryBytes: null },
  identity: null,
};
const optionsOf = (given: Partial<Confinement>) => confinedParts(['true'], { ...bare, ...given }, 6).options;
const programOf = (given: Partial<Confinement>) => confinedParts(['true'], { ...bare, ...given }, 6).program;
/** Whether the words appear in the list one after the other. */
const has = (list: readonly string[], ...words: string[]) =>
  list.some((_, at) => words.every((word, offset) => list[at + offset] === word));

describe('a confined program', () => {
  it.each([
    ['has no namespace of the host', ['--unshare-user', '--unshare-all', '--disable-userns']],
    ['ends with whoever started it', ['--die-with-parent']],
    ['has no terminal of the host', ['--new-session']],
    ['is nobody of the host', ['--uid', '1000', '--gid', '1000']],
    ['sees the programs of the system and changes none', ['--ro-bind', '/usr', '/usr']],
    ['has processes of its own alone', ['--proc', '/proc']],
    ['has a bounded folder for what passes', ['--size', String(512 * 1024 * 1024), '--tmpfs', '/tmp']],
    ['writes to no other memory', ['--remount-ro', '/dev', '--remount-ro', '/']],
    ['inherits no variable', ['--clearenv']],
    ['makes no system call that is filtered out', ['--seccomp', '6']],
    ['changes nothing of how the machine sees it', ['--proc', '/proc', '--remount-ro', '/proc']],
    ['begins in its folder', ['--chdir', '/home/agent']],
  ])('%s', (_what, words) => {
    expect(has(optionsOf({}), ...words)).toBe(true);
  });

  it("sees only its mounts, and the host's programs with their settings", () => {
    const mounts = [
      { from: '/data/1/home', to: '/home/agent', isWritable: true },
      { from: '/data/1/etc', to: '/etc/passwd', isWritable: false },
    ];
    const options = optionsOf({ mounts });
    expect(has(options, '--bind', '/data/1/home', '/home/agent')).toBe(true);
    expect(has(options, '--ro-bind', '/data/1/etc', '/etc/passwd')).toBe(true);
    const seen = options.flatMap((word, at) => (/^--(ro-)?bind(-try)?$/.test(word) ? [options[at + 1] as string] : []));
    expect(
      seen.filter((path) => !path.startsWith('/data/1/') && path !== '/usr' && !/^\/etc\/[a-z.]+$/.test(path)),
    ).toEqual([]);
    expect(seen).not.toContain('/etc/shadow');
  });

  it('gets the proxy variables only if it has a proxy', () => {
    expect(optionsOf({}).join(' ')).not.toMatch(/proxy/i);
    const options = optionsOf({ egressSocket: '/data/1/egress.sock' });
    expect(has(options, '--bind', '/data/1/egress.sock', '/run/egress.sock')).toBe(true);
    expect(has(options, '--setenv', 'https_proxy', 'http://127.0.0.1:3128')).toBe(true);
  });

  it('has its limits', () => {
    expect(programOf({})).toEqual(expect.arrayContaining(['--nproc=7', '--fsize=1000', '--core=0']));
    expect(programOf({}).join(' ')).not.toContain('--data');
    expect(programOf({ limits: { ...bare.limits, memoryBytes: 9 } })).toContain('--data=9');
  });

  it('can be one command line that keeps its account', () => {
    const identity = { uid: 700_001, gid: 700_001 };
    const { file, args, identity: account } = confine(['true', '--', 'x'], { ...bare, identity, env: { A: '--' } }, 5);
    const parts = confinedParts(['true', '--', 'x'], { ...bare, env: { A: '--' } }, 5);
    expect([file, account]).toEqual(['/bin/sh', identity]);
    expect(args).toEqual(['-c', launch, 'sh', ...parts.options, '--', ...parts.program]);
    expect(args.slice(-3)).toEqual(['true', '--', 'x']);
  });
});
