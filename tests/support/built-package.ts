import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtOnce } from './built-once.ts';

const root = join(import.meta.dirname, '../..');

/** A package as it is published, from a repository that its manifest names. Its compiler takes twelve seconds of CPU. */
export const builtPackage = (part: 'sdk' | 'react'): Promise<string> =>
  builtOnce({
    name: `test-${part}`,
    sources: `{LICENSE,{,packages/{contract,${part}}/}{package,package-lock,tsconfig,tsconfig.build}.json,docs/*.md,scripts/*.ts,packages/{contract,${part}}/{src/**/*,*.md}}`,
    build: (folder) =>
      promisify(execFile)(process.execPath, [join(root, `scripts/build-${part}.ts`), folder], {
        cwd: root,
        env: { ...process.env, GITHUB_SERVER_URL: 'https://code.example.com', GITHUB_REPOSITORY: 'org/vestra' },
      }),
  });
