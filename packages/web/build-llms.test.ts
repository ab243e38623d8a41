import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes } from '@vestra/contract/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLlms } from './build-llms.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vestra-llms-'));
  writeLlms(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('llms.txt', () => {
  it('follows the convention and links every docs page with a description [REQ-304]', () => {
    expect(written('llms.txt')).toMatch(/^# Vestra\n\n> .+\n/);
    const lines = [...written('llms.txt').matchAll(/^- \[(.+?)\]\((.+?)\)(?:: (.+))?$/gm)];
    const links = lines.map(([, , link]) => link ?? '');
    // Each line must have a real description.
    expect(lines.filter(([, , , about = '']) => about.split(' ').length < 4).map(([line]) => line)).toEqual([]);
    const pages = links.flatMap((link) => /^\/docs\/guide\/(.+\.md)$/.exec(link)?.[1] ?? []);
    expect(pages).toEqual(expect.arrayContaining(['conversations.md', 'errors.md', 'events.md', 'changelog.md']));
    expect(pages.filter((page) => !existsSync(join(root, 'docs', page)))).toEqual([]);
    expect(links).toEqual(expect.arrayContaining(['/v1/openapi.json', '/schemas/service.yaml.json', '/llms-full.txt']));
  });

  it('contains every operation and every page in the full version [REQ-304]', () => {
    const full = written('llms-full.txt');
    expect(routes.filter(({ route }) => !full.includes(`\`${route.method} ${route.path}\``))).toEqual([]);
    expect(full).toContain(readFileSync(join(root, 'docs/conversations.md'), 'utf8').trim());
  });
});
