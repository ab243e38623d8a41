import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const megabytes = 1024 * 1024;

function form(bytes: Uint8Array | string, filename = 'note.txt', part = 'file'): FormData {
  const made = new FormData();
  made.set(part, new File([bytes as BlobPart], filename));
  return made;
}

const upload = (raw: FormData, search = '', options: { key?: string; headers?: Record<string, string> } = {}) =>
  server.call('POST', `/v1/files${search}`, { raw, ...options });
const get = (id: string, key?: string) => server.call('GET', `/v1/files/${id}`, key ? { key } : {});

describe('uploading', () => {
  it('stores the owner and the type of a file [FILE-001, FILE-002, FILE-006, FILE-007]', async () => {
    const { status, body } = await upload(form('# Hello', 'hello.md'), '?user_id=ada');
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'file',
      id: expect.stringMatching(/^file_/),
      user_id: 'ada',
      filename: 'hello.md',
      mime_type: 'text/markdown',
      size_bytes: 7,
      source: 'upload',
      task_id: null,
      conversation_id: null,
      created_at: expect.any(String),
    });
    expect((await server.call('GET', '/v1/users/ada')).status).toBe(200);
    expect((await upload(form('x'))).body.user_id).toBeNull();
  });

  it.each([
    [
      'photo.txt',
      new Uint8Array([
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6, 0, 0, 0,
      ]),
      'image/png',
    ],
    ['report.exe', new TextEncoder().encode('%PDF-1.7\n'), 'application/pdf'],
    ['data.csv', new TextEncoder().encode('a,b\n1,2\n'), 'text/csv'],
    ['page.html', new TextEncoder().encode('<p>hi</p>'), 'text/html'],
    ['noise.txt', new Uint8Array([1, 0, 255, 254, 7, 9, 200]), 'application/octet-stream'],
  ])('detects %s by its bytes', async (filename, bytes, type) => {
    expect((await upload(form(bytes, filename))).body.mime_type).toBe(type);
  });

  it('accepts 10 MB and not one byte more [FILE-008]', async () => {
    expect((await upload(form(new Uint8Array(10 * megabytes), 'big.bin'))).status).toBe(201);
    const over = await upload(form(new Uint8Array(10 * megabytes + 1), 'big.bin'));
    expect([over.status, codeOf(over)]).toEqual([413, 'file_too_large']);
    const far = await upload(form(new Uint8Array(12 * megabytes), 'big.bin'));
    expect([far.status, codeOf(far)]).toEqual([413, 'file_too_large']);
  });

  it.each(['a/b.txt', 'a\\b.txt', '..', 'a\u0007b', 'n'.repeat(256), 'ü'.repeat(128), 'bill\u202Efdp.exe', '\u2066a'])(
    'refuses the name %j [FILE-015, FILE-201]',
    async (filename) => {
      const answer = await upload(form('x', filename));
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_filename']);
    },
  );

  it('refuses a body without the part, or without parts [FILE-014, FILE-016]', async () => {
    expect(codeOf(await upload(form('x', 'a.txt', 'other')))).toBe('file_required');
    const text = new FormData();
    text.set('file', 'just text');
    expect(codeOf(await upload(text))).toBe('file_required');
    const broken = await server.call('POST', '/v1/files', {
      raw: 'nonsense',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect([broken.status, codeOf(broken)]).toEqual([400, 'multipart_required']);
    const json = await server.call('POST', '/v1/files', { body: {} });
    expect([json.status, codeOf(json)]).toEqual([400, 'multipart_required']);
  });

  it('is the same upload under the same key, with any boundary [IDEM-016]', async () => {
    const headers = { 'idempotency-key': 'upload' };
    const first = await upload(form('same'), '', { headers });
    const second = await upload(form('same'), '', { headers });
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(codeOf(await upload(form('other'), '', { headers }))).toBe('idempotency_key_reused');
  });

  it('needs a user if the org requires one, and refuses a disabled one [ACC-015, AUTH-011, USR-030, USR-031]', async () => {
    await server.call('POST', '/v1/users', { body: { user_id: 'off' } });
    await server.call('PATCH', '/v1/users/off', { body: { status: 'disabled' } });
    const refused = await upload(form('x'), '?user_id=off');
    expect([refused.status, codeOf(refused)]).toEqual([403, 'user_disabled']);
    await server.call('PATCH', '/v1/users/off', { body: { status: 'active' } });
    expect((await upload(form('x'), '?user_id=off')).status).toBe(201);
    await server.call('PATCH', '/v1/org', { body: { require_user: true } });
    const nobody = await upload(form('x'));
    expect([nobody.status, codeOf(nobody)]).toEqual([400, 'user_required']);
    await server.call('PATCH', '/v1/org', { body: { require_user: false } });
  });
});

describe('downloading', () => {
  it('gives exactly the bytes by a link of 15 minutes [FILE-003, FILE-004, FILE-012]', async () => {
    const bytes = randomBytes(100_000);
    const { body } = await upload(form(bytes, 'späß "1".bin'));
    const { body: file } = await get(body.id);
    expect(Date.parse(file.download_expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    expect(Date.parse(file.download_expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    const download = await fetch(file.download_url);
    expect(download.status).toBe(200);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
    expect(download.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''sp%C3%A4%C3%9F%20%221%22.bin`,
    );
    expect(download.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('gives nothing by a link that was changed or has run out [FILE-005]', async () => {
    const one = (await get((await upload(form('one'))).body.id)).body.download_url as string;
    const other = (await upload(form('two'))).body.id as string;
    const changed = [
      one.replace(/signature=./, (match) => (match.endsWith('A') ? 'signature=B' : 'signature=A')),
      one.replace(/expires=\d/, 'expires=9'),
      one.replace(/file_\w+/, other),
      one.replace(/expires=\d+/, `expires=${Date.now() - 1}`),
      one.split('?')[0] as string,
    ];
    for (const url of changed) expect([url, (await fetch(url)).status]).toEqual([url, 404]);
  });
});

describe('finding and deleting', () => {
  it('lists uploads, and outputs if a task is named [FILE-009, FILE-010, FILE-011]', async () => {
    const taskId = newId('task');
    const conversationId = newId('conv');
    const insert = (source: string) =>
      query(
        server.connectionString,
        `INSERT INTO files (id, org_id, mode, user_id, filename, sha256, source, task_id, conversation_id)
         VALUES ($1, $2, 'test', 'lin', $3, 'x', $3, $4, $5)`,
        [newId('file'), server.orgId, source, taskId, conversationId],
      );
    await insert('output');
    await insert('upload');
    await upload(form('mine'), '?user_id=lin');
    const sources = async (search: string) =>
      (await server.call('GET', `/v1/files?${search}`)).body.data.map(({ source }: { source: string }) => source);
    expect(await sources(`task_id=${taskId}`)).toEqual(['output']);
    expect(await sources(`task_id=${taskId}&source=upload`)).toEqual(['output']);
    expect(await sources(`conversation_id=${conversationId}`)).toEqual(['output']);
    expect(await sources(`conversation_id=${conversationId}&source=upload`)).toEqual(['upload']);
    expect(await sources('user_id=lin')).toEqual(['upload', 'upload']);
    expect(await sources('user_id=lin&source=output')).toEqual(['output']);
    const page = await server.call('GET', '/v1/files?user_id=lin&limit=1');
    expect([page.body.data.length, typeof page.body.next_cursor]).toEqual([1, 'string']);
  });

  it('removes row and bytes, but not bytes that another file shares [FILE-013]', async () => {
    const [one, two] = [(await upload(form('shared', 'a.txt'))).body, (await upload(form('shared', 'b.txt'))).body];
    const link = (await get(two.id)).body.download_url;
    const gone = await server.call('DELETE', `/v1/files/${one.id}`);
    expect([gone.status, gone.body]).toEqual([200, { object: 'file', id: one.id, deleted: true }]);
    expect(await (await fetch(link)).text()).toBe('shared');
    await server.call('DELETE', `/v1/files/${two.id}`);
    expect((await fetch(link)).status).toBe(404);
  });

  it('keeps the bytes of an upload while an identical file is deleted', async () => {
    for (let round = 0; round < 10; round++) {
      const twin = (await upload(form('twins'))).body.id;
      const [made] = await Promise.all([upload(form('twins')), server.call('DELETE', `/v1/files/${twin}`)]);
      const { body } = await get(made.body.id);
      expect(await (await fetch(body.download_url)).text()).toBe('twins');
      await server.call('DELETE', `/v1/files/${made.body.id}`);
    }
  });

  it('returns 404 for a missing file, in the other mode and for another org [FILE-018, TEN-004, TEN-010]', async () => {
    const { body } = await upload(form('mine'));
    const other = await makeOtherOrg(server);
    for (const key of [server.liveKey, other]) {
      expect(codeOf(await get(body.id, key))).toBe('file_not_found');
      expect(codeOf(await server.call('DELETE', `/v1/files/${body.id}`, { key }))).toBe('file_not_found');
      expect((await server.call('GET', '/v1/files', { key })).text).not.toContain(body.id);
    }
    expect(codeOf(await get(newId('file')))).toBe('file_not_found');
  });

  it('leaves nothing of an erased user [USR-022]', async () => {
    const { body } = await upload(form('private'), '?user_id=gone');
    const link = (await get(body.id)).body.download_url;
    await server.call('DELETE', '/v1/users/gone');
    // The bytes go before the row does.
    while ((await get(body.id)).status === 200) await new Promise((resolve) => setTimeout(resolve, 25));
    expect([codeOf(await get(body.id)), (await fetch(link)).status]).toEqual(['file_not_found', 404]);
  });
});
