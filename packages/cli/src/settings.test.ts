import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { writeProfiles } from './profiles.ts';
import { type GlobalFlags, readSettings } from './settings.ts';

let home: string;
let withKeys: string;
let withAddress: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'vestra-cli-settings-'));
  withKeys = join(home, 'project');
  await mkdir(join(withKeys, '.vestra'), { recursive: true });
  await writeFile(
    join(withKeys, '.vestra/credentials.json'),
    JSON.stringify({ org_id: 'org', test_key: 'vk_test_folder', live_key: 'vk_live_folder' }),
  );
  withAddress = join(home, 'served');
  await mkdir(join(withAddress, '.vestra'), { recursive: true });
  await writeFile(
    join(withAddress, '.vestra/credentials.json'),
    JSON.stringify({ test_key: 'vk_test_served', live_key: 'vk_live_served', url: 'http://10.0.0.7:4740' }),
  );
  await writeProfiles(
    { XDG_CONFIG_HOME: join(home, 'kept') },
    {
      current: 'work',
      profiles: {
        work: { url: 'https://work.example.com', key: 'vk_test_work' },
        live: { url: 'https://live.example.com', key: 'vk_live_kept' },
      },
    },
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

type Case = {
  env?: Record<string, string>;
  flags?: GlobalFlags;
  hasKeys?: boolean;
  hasAddress?: boolean;
  /** Run the command two folders below the one with keys. */
  isBelow?: boolean;
  hasProfiles?: boolean;
};

const read = ({ env = {}, flags = {}, hasKeys, hasAddress, isBelow, hasProfiles }: Case) =>
  readSettings(
    {
      env: { XDG_CONFIG_HOME: join(home, hasProfiles ? 'kept' : 'none'), ...env },
      cwd: isBelow ? join(withAddress, 'a/b') : hasAddress ? withAddress : hasKeys ? withKeys : home,
    },
    flags,
  );

const everything = {
  env: { VESTRA_URL: 'https://env.example.com', VESTRA_KEY: 'env' },
  hasKeys: true,
  hasProfiles: true,
};

describe('readSettings', () => {
  it.each<[string, Case, string, string | null]>([
    [
      'flags first',
      { ...everything, flags: { url: 'https://flag.example.com', key: 'flag' } },
      'https://flag.example.com',
      'flag',
    ],
    [
      'a named profile over the environment',
      { ...everything, flags: { profile: 'live' } },
      'https://live.example.com',
      'vk_live_kept',
    ],
    ['the environment over the current profile', everything, 'https://env.example.com', 'env'],
    [
      'the folder over the current profile',
      { hasKeys: true, hasProfiles: true },
      'http://127.0.0.1:4600',
      'vk_test_folder',
    ],
    ['the current profile last', { hasProfiles: true }, 'https://work.example.com', 'vk_test_work'],
    ['a folder below', { isBelow: true }, 'http://10.0.0.7:4740', 'vk_test_served'],
    [
      'a folder below, with /v1',
      { isBelow: true, flags: { url: 'http://10.0.0.7:4740/v1/' } },
      'http://10.0.0.7:4740',
      'vk_test_served',
    ],
    [
      'only the folder that VESTRA_DATA_DIR names',
      { isBelow: true, env: { VESTRA_DATA_DIR: 'data' } },
      'http://127.0.0.1:4600',
      null,
    ],
    ['its live key when asked', { hasKeys: true, flags: { live: true } }, 'http://127.0.0.1:4600', 'vk_live_folder'],
    [
      'the folder on another port',
      { hasKeys: true, flags: { url: 'http://localhost:5000/' } },
      'http://localhost:5000',
      'vk_test_folder',
    ],
    ['the folder where its server said it listens', { hasAddress: true }, 'http://10.0.0.7:4740', 'vk_test_served'],
    ['also for its live key', { hasAddress: true, flags: { live: true } }, 'http://10.0.0.7:4740', 'vk_live_served'],
    [
      'another machine than the one it named',
      { hasAddress: true, flags: { url: 'http://10.0.0.8:4740' } },
      'http://10.0.0.8:4740',
      null,
    ],
    ['nothing at all', {}, 'http://127.0.0.1:4600', null],
  ])('%s', async (_, given, url, key) => {
    expect(await read(given)).toMatchObject({ url, key });
  });

  it('names the source of the key only if the user did not choose it', async () => {
    expect((await read({ hasKeys: true })).notice).toBe(
      'Using the test key of .vestra/credentials.json at http://127.0.0.1:4600.',
    );
    expect((await read(everything)).notice).toBeNull();
    expect((await read({ hasKeys: true, hasProfiles: true })).notice).toBe(
      'Using the test key of .vestra/credentials.json at http://127.0.0.1:4600, not the profile of `vestra login` (use --profile work for that).',
    );
  });

  it('ignores keys in a parent folder that another user owns', async () => {
    const above = join(home, 'everybody');
    await mkdir(join(above, '.vestra'), { recursive: true });
    await mkdir(join(above, 'mine'));
    const file = join(above, '.vestra/credentials.json');
    await writeFile(file, JSON.stringify({ test_key: 'vk_test_planted', live_key: 'vk_live_planted' }));
    const place = { env: { XDG_CONFIG_HOME: join(home, 'none') }, cwd: join(above, 'mine') };
    expect(await readSettings(place, {})).toMatchObject({
      key: 'vk_test_planted',
      urlSource: '../.vestra/credentials.json',
    });
    const other = vi.spyOn(process, 'getuid').mockReturnValue((process.getuid?.() ?? 0) + 1);
    expect((await readSettings(place, {})).key).toBeNull();
    other.mockRestore();
  });

  it('sends a saved key to no other server', async () => {
    const elsewhere = { url: 'https://elsewhere.example.com' };
    expect((await read({ hasKeys: true, hasProfiles: true, flags: elsewhere })).key).toBeNull();
    await expect(read({ hasKeys: true, flags: { ...elsewhere, live: true } })).rejects.toThrow(/its own server/);
    expect((await read({ hasProfiles: true, flags: { ...elsewhere, profile: 'work' } })).key).toBeNull();
  });

  it.each<[GlobalFlags, RegExp]>([
    [{ profile: 'unknown' }, /No profile is named "unknown". There are: work, live./],
    [{ url: 'not an address' }, /is not the address of a server/],
    [{ live: true, key: 'x' }, /not both/],
    [{ live: true }, /credentials.json/],
  ])('%j is refused', async (flags, message) => {
    await expect(read({ hasProfiles: true, flags })).rejects.toThrow(message);
  });

  it('saves profiles with owner-only permissions and rejects an unreadable file', async () => {
    const file = join(home, 'kept/vestra/config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const broken = join(home, 'broken');
    await mkdir(join(broken, 'vestra'), { recursive: true });
    await writeFile(join(broken, 'vestra/config.json'), '{"profiles":');
    await expect(read({ env: { XDG_CONFIG_HOME: broken } })).rejects.toThrow(/is not a profile file/);
  });

  it('reports that the environment overrides `vestra login`', async () => {
    const env = { VESTRA_KEY: 'vk_test_env' };
    expect(await read({ env, hasProfiles: true })).toMatchObject({
      key: 'vk_test_env',
      source: 'VESTRA_KEY',
      notice: 'Using VESTRA_KEY at https://work.example.com, not the key of `vestra login`.',
    });
    expect((await read({ env: { VESTRA_KEY: 'vk_test_work' }, hasProfiles: true })).notice).toBeNull();
    expect((await read({ env })).notice).toBeNull();
  });
});
