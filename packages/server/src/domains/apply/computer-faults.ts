import type { Fault } from '@vestra/contract/errors';
import { variableExposesCredential } from '@vestra/contract/exposed-credential';
import type { SettingParts } from './parts.ts';
import type { ApplyPorts } from './ports.ts';
import { fault } from './refusal.ts';

type ComputerParts = Pick<SettingParts, 'setup' | 'repos' | 'env' | 'files'>;

export function computerFaults(parts: ComputerParts, { refuseAddress }: Pick<ApplyPorts, 'refuseAddress'>): Fault[] {
  return [
    ...setupFaults(parts),
    ...parts.repos.flatMap((repo) => repoFaults(repo, refuseAddress)),
    ...parts.env
      .filter(({ name, value }) => variableExposesCredential(name, value))
      .map(({ at, name }) =>
        fault('raw_secret_in_header', at, `Store the credential as a secret and write \`\${${name}}\` instead.`),
      ),
    ...parts.files.flatMap(({ at, value }) => pathFaults(value.path, `${at}.path`)),
    ...takenPlaceFaults(parts),
  ];
}

/** A file's name would run as a command and fail on every computer, unless something puts that file there. */
function setupFaults(parts: ComputerParts): Fault[] {
  const placed = placesOf(parts).map(({ path }) => path);
  return parts.setup.flatMap(({ at, value }) => {
    const [, path] = /^(?:\.\/)?([^\s]+)$/.exec(value.trim()) ?? [];
    if (path === undefined || !(value.trim().startsWith('.') || /\.(sh|bash)$/.test(path))) return [];
    if (placed.some((place) => path === place || path.startsWith(`${place}/`))) return [];
    const message = `\`${value.trim()}\` cannot be read over HTTP: send the script itself, or apply the file with the CLI or an SDK.`;
    return [fault('path_not_resolved', at, message)];
  });
}

/** Two that want one place would put each other away at every task. */
function takenPlaceFaults(parts: ComputerParts): Fault[] {
  const firstAt = new Map<string, string>();
  return placesOf(parts).flatMap(({ at, path }) => {
    const first = firstAt.get(path);
    if (first === undefined) firstAt.set(path, at);
    return first === undefined
      ? []
      : [
          fault(
            'invalid_manifest',
            at,
            `\`${path}\` is where \`${first}\` goes already: give one of them another \`path\`.`,
          ),
        ];
  });
}

const placesOf = ({ repos, files }: Pick<ComputerParts, 'repos' | 'files'>) =>
  [
    ...repos.map(({ at, value }) => ({ at, path: value.path ?? repoFolder(value.url) })),
    ...files.map(({ at, value }) => ({ at, path: value.path })),
  ].map(({ at, path }) => ({
    at,
    path: path
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .join('/'),
  }));

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
  const leaves = path.split('/').includes('..') || /^[-/]/.test(path) || /[\p{Cc}\\]/u.test(path);
  if (!leaves) return [];
  const message =
    'A path leads on from the home folder: it has no `..`, no backslash and no control character, and begins with no slash and no dash.';
  return [fault('invalid_manifest', at, message)];
}
