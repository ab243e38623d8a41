import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GitServer, startGitServer } from '../../packages/server/src/computers/machine/git-server.fixture.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { payOrg } from './conversations.fixture.ts';
import { calling, inTurn, isOver, resultsIn } from './interactions.fixture.ts';

const token = `ghp_${'t'.repeat(24)}`;
const secret = `sk-${'s'.repeat(24)}`;

let desk: ComputerDesk;
let git: GitServer;
beforeAll(async () => {
  [desk, git] = await Promise.all([startComputerDesk(), startGitServer({ token })]);
  await payOrg(desk, desk.orgId);
  await desk.apply({ name: 'first', memory: 'none' });
  for (const [name, value] of Object.entries({ GIT_TOKEN: token, SHOP_KEY: secret })) {
    await desk.call('PUT', `/v1/secrets/${name}`, { body: { value } });
  }
});
afterAll(async () => {
  await desk.stop();
  await git.close();
});

const prepared = (name: string, computer: Record<string, unknown>) =>
  desk.apply({ name, memory: 'none', computer: computer as never });

/** Nowhere in what is kept of the work, what was told of it and what the model read. */
async function assertNowhere(value: string): Promise<void> {
  const found = await desk.sql(
    `SELECT 'call' AS at FROM run_calls WHERE output LIKE '%' || $1 || '%' OR arguments::text LIKE '%' || $1 || '%'
     UNION ALL SELECT 'event' FROM conversation_events WHERE data::text LIKE '%' || $1 || '%'
     UNION ALL SELECT 'message' FROM messages WHERE text LIKE '%' || $1 || '%'
     UNION ALL SELECT 'prepared' FROM computer_preparations WHERE key || fingerprint LIKE '%' || $1 || '%'`,
    [value],
  );
  expect(found).toEqual([]);
  expect(JSON.stringify(desk.asked)).not.toContain(value);
}

/** The output of one command that the model read, with a key of either mode. */
async function commandAs(key: string, body: Record<string, unknown>, command: string): Promise<string> {
  desk.script(inTurn(calling('run_command', { command }), { text: 'Done.' }));
  const { id } = await desk.say({ message: 'Do it', hand_off: 'always', ...body }, key);
  await desk.until(`/v1/tasks?conversation_id=${id}`, ({ data }) => data.some(isOver), key);
  return resultsIn(desk.asked.at(-1)).join('\n');
}

describe('before the first task', () => {
  it('`files` lie at their path and `setup` has run, once on each computer [CMP-002, CMP-005]', async () => {
    const fileId = await desk.upload('prices.csv', 'tea,4\n');
    const setup =
      'echo "ran for $WHOM with $(cat data/prices.csv)" >>setup.log; mkdir -p bin; printf "#!/bin/sh\\necho hello" >bin/hello; chmod +x bin/hello';
    await prepared('set-up', { setup, env: { WHOM: 'us' }, files: [{ file_id: fileId, path: 'data/prices.csv' }] });
    const body = { user_id: 'ada', deployment: 'set-up' };
    const expected = 'Exit code 0.\nstdout:\nran for us with tea,4\nhello';
    expect(await desk.commands(body, 'cat setup.log; hello', 'echo changed >data/prices.csv')).toEqual([
      expected,
      'Exit code 0.',
    ]);
    expect(await desk.commands(body, 'cat setup.log; hello', 'cat data/prices.csv')).toEqual([
      expected,
      'Exit code 0.\nstdout:\nchanged',
    ]);
    expect(await desk.commands({ ...body, user_id: 'bea' }, 'cat setup.log; hello')).toEqual([expected]);
  });

  it('`files` are copied into the version: both modes have them, also after the upload was deleted [VER-703]', async () => {
    const fileId = await desk.upload('prices.csv', 'tea,4\n');
    const other = await desk.upload('other.csv', 'tea,4\n');
    const computer = (id: string) => ({ files: [{ file_id: id, path: 'prices.csv' }] });
    await prepared('copied', computer(fileId));
    const put = (id: string, key: string, promote = 'now') =>
      desk.call('PUT', `/v1/deployments/copied?promote=${promote}`, {
        key,
        body: { name: 'copied', memory: 'none', computer: computer(id) },
      });
    expect((await put(fileId, desk.liveKey)).body).toMatchObject({ changed: [], live_version: 1 });
    // Another upload of the same content changes nothing.
    expect((await put(other, desk.testKey)).body.changed).toEqual([]);
    for (const id of [fileId, other]) expect((await desk.call('DELETE', `/v1/files/${id}`)).status).toBe(200);
    expect((await desk.call('GET', `/v1/files/${fileId}`)).status).toBe(404);
    for (const key of [desk.testKey, desk.liveKey]) {
      const body = { user_id: 'zoe', deployment: 'copied' };
      expect(await commandAs(key, body, 'cat prices.csv')).toContain('Exit code 0.\nstdout:\ntea,4');
    }
    // The file can be applied again without the upload, and rolled back to.
    expect((await put(fileId, desk.liveKey)).body.changed).toEqual([]);
    await desk.call('PUT', '/v1/deployments/copied?promote=now', {
      key: desk.liveKey,
      body: { name: 'copied', memory: 'none' },
    });
    expect((await desk.call('POST', '/v1/deployments/copied/rollback', { key: desk.liveKey })).status).toBe(200);
    const { manifest } = (await desk.call('GET', '/v1/deployments/copied/versions/1')).body;
    expect(manifest.environment.files).toEqual([
      { file_id: fileId, path: 'prices.csv', sha256: createHash('sha256').update('tea,4\n').digest('hex') },
    ]);
  });

  it('a test key copies no file of live mode, and no content by its hash [VER-703]', async () => {
    const secretFile = new FormData();
    secretFile.set('file', new File(['live only'], 'live.txt'));
    const { body: live } = await desk.call('POST', '/v1/files', { key: desk.liveKey, raw: secretFile });
    const sha256 = createHash('sha256').update('live only').digest('hex');
    const own = await desk.upload('own.txt', 'mine');
    const put = (files: object[], key: string) =>
      desk.call('PUT', '/v1/deployments/sealed', {
        key,
        body: { name: 'sealed', memory: 'none', computer: { files } },
      });
    const refused = await put([{ file_id: live.id, path: 'a' }], desk.testKey);
    expect([refused.status, refused.body.error.param]).toEqual([400, 'computer.files.0.file_id']);
    const forged = await put([{ file_id: own, path: 'a', sha256 }], desk.testKey);
    expect(forged.body.version.manifest.environment.files[0].sha256).not.toBe(sha256);
    expect(await desk.commands({ user_id: 'eve', deployment: 'sealed' }, 'cat a')).toEqual([
      'Exit code 0.\nstdout:\nmine',
    ]);
    // A live key decides what both modes get.
    expect((await put([{ file_id: live.id, path: 'a' }], desk.liveKey)).status).toBe(200);
  });

  it('only the changes of a new version are prepared', async () => {
    const [one, two] = [await desk.upload('one.txt', 'one'), await desk.upload('two.txt', 'two')];
    const files = [
      { file_id: one, path: 'one.txt' },
      { file_id: two, path: '/home/agent/two.txt' },
    ];
    const setup = 'echo first >>setup.log';
    await prepared('grown', { setup, files });
    const body = { user_id: 'ada', deployment: 'grown' };
    await desk.commands(body, 'rm setup.log; echo mine >one.txt');
    await prepared('grown', { setup, files: [files[0], { file_id: one, path: 'two.txt' }] });
    expect(await desk.commands(body, 'cat one.txt two.txt; cat setup.log')).toEqual([
      expect.stringMatching(/^Exit code 1\.\nstdout:\nmine\none\nstderr:\ncat: setup\.log: No such file/),
    ]);
    await prepared('grown', { setup: 'echo second >>setup.log', files: [] });
    expect(await desk.commands(body, 'cat setup.log; ls')).toEqual([expect.stringContaining('stdout:\nsecond\n')]);
    await prepared('grown', { setup, files: [] });
    expect(await desk.commands(body, 'cat setup.log')).toEqual(['Exit code 0.\nstdout:\nsecond']);
  });

  it('`repos` are cloned at their branch into their folder, with the token, which stays nowhere [CMP-003, CMP-541, SEC-001]', async () => {
    git.commit('tools', 'main', { 'README.md': 'on main\n' });
    git.commit('tools', 'release', { 'README.md': 'on release\n' });
    const url = `http://${git.host}/acme/tools`;
    const tokenReference = '${GIT_TOKEN}';
    const repos = [
      { url, token: tokenReference },
      { url, ref: 'release', path: 'work/released', token: '${secret:GIT_TOKEN}' },
    ];
    await prepared('cloned', { repos });
    const said = await desk.commands(
      { user_id: 'carl', deployment: 'cloned' },
      'cat tools/README.md work/released/README.md; git -C tools status --short --branch; cat tools/.git/config; env',
      `grep -rs ${token.slice(0, 8)} . ; ls -A`,
    );
    expect(said[0]).toContain('on main\non release\n## main...origin/main\n');
    expect(desk.asked.at(-1)?.system.join('\n')).toContain('- `/home/agent/tools`\n- `/home/agent/work/released`\n');
    expect(said[1]).toBe('Exit code 0.\nstdout:\ntools\nwork');
    expect(git.asked.filter((header) => header !== null).length).toBeGreaterThan(0);
    await assertNowhere(token);
  });
});

describe('`env`', () => {
  const env = {
    REGION: 'eu "west" $HOME',
    KEY: '${SHOP_KEY}',
    AUTH: 'Bearer ${secret:SHOP_KEY}',
    OWN: '${user_secret:DIARY_KEY}',
  };

  it('is set in commands with secrets in place, which the model never reads [CMP-004, SEC-001]', async () => {
    await prepared('env', { env });
    const body = { user_id: 'dan', deployment: 'env' };
    const script =
      'echo "$REGION"; echo ${#KEY} ${#AUTH}; echo "$KEY|$AUTH|${OWN-unset}"; echo "$KEY" >&2; echo "$KEY" >key.txt';
    expect(await desk.commands(body, script)).toEqual([
      'Exit code 0.\nstdout:\neu "west" $HOME\n27 34\n[secret SHOP_KEY]|Bearer [secret SHOP_KEY]|unset\nstderr:\n[secret SHOP_KEY]',
    ]);
    await assertNowhere(secret);
    await desk.call('PUT', '/v1/secrets/DIARY_KEY', { body: { value: 'dans-own-key', user_id: 'dan' } });
    const { results } = await desk.calls(
      body,
      ['run_command', { command: 'echo "$OWN"; printf %s "$OWN" | rev' }],
      ['read_file', { path: 'key.txt' }],
      ['save_output', { filename: 'key.txt', path: 'key.txt' }],
      ['run_command', { command: 'mkdir "dir-$KEY"; yes "$KEY" | head -n 40000' }],
      ['list_files'],
    );
    expect(results[0]).toBe('Exit code 0.\nstdout:\n[secret DIARY_KEY]\nyek-nwo-snad');
    expect(results[1]).toBe('28 bytes, part 1 of 1\n[secret SHOP_KEY]\n');
    expect(results[2]).toBe('The file holds the value of the secret SHOP_KEY and is not given away.');
    expect(results[4]).toBe('/home/agent:\ndir-[secret SHOP_KEY]/\nkey.txt (28 bytes)');
    await assertNowhere(secret);
    await assertNowhere('dans-own-key');
    // Somebody else has none of it.
    expect(await desk.commands({ ...body, user_id: 'eve' }, 'echo "${OWN-unset}"')).toEqual([
      'Exit code 0.\nstdout:\nunset',
    ]);
  });

  it('with a deleted secret names the secret', async () => {
    await desk.call('PUT', '/v1/secrets/PASSING', { body: { value: 'passing-value' } });
    await prepared('passing', { env: { KEY: '${PASSING}' } });
    await desk.call('DELETE', '/v1/secrets/PASSING');
    expect(await desk.commands({ user_id: 'dan', deployment: 'passing' }, 'echo ran')).toEqual([
      'The company has not stored the secret PASSING in test mode.',
    ]);
  });
});

describe('a preparation that fails', () => {
  it('is reported with its last lines, without secrets, and once per task', async () => {
    const setup = 'echo try >>tries; seq 100; echo "the key is $KEY" >&2; exit 7';
    await prepared('broken', { setup, env: { KEY: '${SHOP_KEY}' } });
    const body = { user_id: 'finn', deployment: 'broken' };
    const [first, second] = await desk.commands(body, 'touch ran', 'ls; cat tries');
    expect(first).toMatch(
      /^The computer could not be prepared, and the call was not run\. The setup script failed \(exit code 7\)\./,
    );
    expect(first).toContain('100\nthe key is [secret SHOP_KEY]\n');
    expect(first).not.toContain('\n50\n');
    expect(second).toBe('Exit code 0.\nstdout:\ntries\ntry');
    await assertNowhere(secret);
    // The next work tries again.
    expect((await desk.commands(body, 'touch ran', 'cat tries'))[1]).toBe('Exit code 0.\nstdout:\ntry\ntry');
    await prepared('broken', { setup: 'true' });
    expect(await desk.commands(body, 'echo ran')).toEqual(['Exit code 0.\nstdout:\nran']);
  });

  it.each([
    [
      'a branch that is not there',
      { ref: 'nowhere', token: '${GIT_TOKEN}' },
      /cannot be cloned at nowhere\. Its last lines:\n[\s\S]*nowhere not found/,
    ],
    [
      'a wrong token',
      { token: '${SHOP_KEY}' },
      /cannot be cloned at main\. Its last lines:\n[\s\S]*Authentication failed/,
    ],
  ])('for %s is reported', async (what, repo, expected) => {
    git.commit('tools', 'main', { 'README.md': 'on main\n' });
    await prepared('uncloned', { repos: [{ url: `http://${git.host}/acme/tools`, ...repo }] });
    const [said] = await desk.commands({ user_id: `gus-${what.length}`, deployment: 'uncloned' }, 'true');
    expect(said).toMatch(expected);
    await assertNowhere(secret);
    await assertNowhere(token);
  });
});
