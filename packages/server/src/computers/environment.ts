import { createHash } from 'node:crypto';
import { secretsIn } from '@vestra/contract/secrets-in-text';
import { inHome, type Manifest, repoNamed } from '../agents/versions/index.ts';

type Environment = NonNullable<Manifest['environment']>;

/** A repository as it is cloned. `token` is the name of a secret of the company. */
export type WantedRepo = { url: string; ref: string; path: string; token: string | null; fingerprint: string };

export function wantedRepos({ repos }: Environment): WantedRepo[] {
  return repos.map((given) => {
    const { url, ref, path, token } = repoNamed(given);
    return {
      url,
      ref,
      path: inHome(path),
      token: token === null ? null : (secretsIn(token).company[0] ?? null),
      fingerprint: hashOf(`${url}\n${ref}`),
    };
  });
}

export const wantedFiles = ({ files }: Environment): { fileId: string; path: string }[] =>
  files.map(({ file_id, path }) => ({ fileId: file_id, path: inHome(path) }));

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
