import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionPages } from './session.ts';
import { missingPages } from './static-content.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-pages-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'session.html'), '<!doctype html>');
  await writeFile(join(folder, 'assets/page-abc123.js'), 'export {};');
  await writeFile(join(folder, 'secret.js'), 'secret');
});
afterAll(() => rm(folder, { recursive: true }));

const origins = async (id: string) => (id === 'ses_1' ? [] : id === 'ses_3' ? ['https://shop.example.com'] : undefined);

function appOn(built: string): Hono {
  const app = new Hono();
  sessionPages({ embedOriginsOf: origins, folder: built })(app);
  return app;
}

describe('the files of the session page', () => {
  it('are cacheable forever, and compressed if the browser accepts that', async () => {
    const app = appOn(folder);
    const plain = await app.request('/session/assets/page-abc123.js');
    expect([plain.status, await plain.text(), plain.headers.get('content-encoding')]).toEqual([
      200,
      'export {};',
      null,
    ]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const zipped = await app.request('/session/assets/page-abc123.js', { headers: { 'accept-encoding': 'br, gzip' } });
    expect([zipped.headers.get('content-encoding'), zipped.headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
    const unzipped = zipped.body?.pipeThrough(new DecompressionStream('gzip'));
    expect(await new Response(unzipped).text()).toBe('export {};');
  });

  it('are only those that were built', async () => {
    const app = appOn(folder);
    for (const name of [
      '..%2Fsecret.js',
      '%2e%2e%2fsecret.js',
      '..%5Csecret.js',
      '.js',
      'none.js',
      'page-abc123',
      '%00.js',
    ]) {
      expect([name, (await app.request(`/session/assets/${name}`)).status]).toEqual([name, 404]);
    }
  });

  it('if missing, tell the operator what to do and show end users no command [PKG-006]', async () => {
    const nowhere = join(folder, 'nowhere');
    const answer = await appOn(nowhere).request('/session/ses_1');
    expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringMatching(/npm|run|build/)]);
    expect([missingPages(nowhere), missingPages(folder)]).toEqual([expect.stringContaining('npm install'), null]);
  });

  it('may be embedded as a preview by this origin only, and otherwise by the org’s origins [CON-266]', async () => {
    const policyOf = async (path: string) =>
      (await appOn(folder).request(path)).headers.get('content-security-policy')?.split('frame-ancestors ')[1];
    expect(await policyOf('/session/ses_1')).toBe("'none'");
    expect(await policyOf('/session/ses_1?preview')).toBe("'self'");
    expect(await policyOf('/session/ses_3')).toBe('https://shop.example.com');
    expect(await policyOf('/session/ses_3?preview')).toBe("'self'");
  });

  it('are a 404 for a session that does not exist', async () => {
    const answer = await appOn(folder).request('/session/ses_2');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});
