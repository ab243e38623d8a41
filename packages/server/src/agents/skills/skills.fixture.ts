import { strToU8, type Zippable, zipSync } from 'fflate';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { openZip } from './open-zip.ts';
import { skillRoutes } from './routes.ts';

/** Starts the skill routes. `key` is the test key of an org. */
export async function startSkills() {
  const jobs = { send: async () => '', sendMany: async () => [] };
  const app = await startTestApp(({ db }) => ({
    skills: skillRoutes({ db, openZip, republishLive: async () => {}, jobs }),
  }));
  return {
    ...app,
    async newOrg() {
      const org = await app.newOrg();
      return { ...org, key: org.testKey };
    },
    sendZip: (key: string, bytes: Uint8Array, { method = 'POST', path = '/v1/skills', headers = {} } = {}) =>
      app.call(method, path, { key, raw: bytes, headers: { 'content-type': 'application/zip', ...headers } }),
  };
}

export type File = { path: string; content: string };

/** A `SKILL.md` with this frontmatter, and further files. */
export const skillOf = (
  { name = 'refunds', description = 'How refunds are made.' } = {},
  others: Record<string, string> = {},
): File[] => [
  { path: 'SKILL.md', content: `---\nname: ${name}\ndescription: ${description}\n---\n\n# Steps\n` },
  ...Object.entries(others).map(([path, content]) => ({ path, content })),
];

export const zipOf = (files: readonly File[], extra: Zippable = {}): Uint8Array =>
  zipSync({ ...Object.fromEntries(files.map(({ path, content }) => [path, strToU8(content)])), ...extra });
