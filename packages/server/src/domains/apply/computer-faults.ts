import type { Fault } from '@vestra/contract/errors';
import type { SettingParts } from './parts.ts';
import type { ApplyPorts } from './ports.ts';
import { fault } from './refusal.ts';

export function computerFaults(
  { repos, files }: Pick<SettingParts, 'repos' | 'files'>,
  { refuseAddress }: Pick<ApplyPorts, 'refuseAddress'>,
): Fault[] {
  return [
    ...repos.flatMap((repo) => repoFaults(repo, refuseAddress)),
    ...files.flatMap(({ at, value }) => pathFaults(value.path, `${at}.path`)),
  ];
}

/** The whole address of a repository that may be written without its scheme. */
export const repoUrl = (url: string): string => (/^https?:\/\//.test(url) ? url : `https://${url}`);

/** The folder that a repository is put into where none is named. */
export const repoFolder = (url: string): string => url.replace(/\/$/, '').split('/').at(-1) as string;

function repoFaults(
  { at, urlAt, value: { url, path } }: SettingParts['repos'][number],
  refuseAddress: ApplyPorts['refuseAddress'],
): Fault[] {
  const bad = (message: string) => fault('invalid_repo', urlAt, message);
  const names = repoUrl(url).split('/').slice(2);
  // git would read a folder that begins with a dash as an option.
  if (names.some((name) => name.startsWith('-'))) return [bad('No part of a repository’s address begins with a dash.')];
  const message = refuseAddress(repoUrl(url));
  return [...(message === null ? [] : [bad(message)]), ...(path === undefined ? [] : pathFaults(path, `${at}.path`))];
}

function pathFaults(path: string, at: string): Fault[] {
  const leaves = path.split('/').includes('..') || path.startsWith('-') || /[\p{Cc}\\]/u.test(path);
  if (!leaves) return [];
  const message = 'A path has no `..`, no backslash and no control character, and begins with no dash.';
  return [fault('invalid_manifest', at, message)];
}
