import type { Fault } from '@vestra/contract/errors';
import { variableExposesCredential } from '@vestra/contract/exposed-credential';
import { repoNamed } from '../../agents/versions/index.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import type { SettingParts } from '../file/parts.ts';
import { fault } from './refusal.ts';

type ComputerParts = Pick<SettingParts, 'setup' | 'repos' | 'env' | 'files'>;

export function computerFaults(
  parts: ComputerParts,
  { refuseAddress }: Pick<ApplyDependencies, 'refuseAddress'>,
): Fault[] {
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

/** Two that want one place would put each other away at every task. The same one named again is saved once. */
function takenPlaceFaults(parts: ComputerParts): Fault[] {
  const firstOf = new Map<string, { at: string; what: string }>();
  return placesOf(parts).flatMap(({ at, path, what }) => {
    const first = firstOf.get(path);
    if (first === undefined) firstOf.set(path, { at, what });
    return first === undefined || first.what === what
      ? []
      : [
          fault(
            'invalid_manifest',
            at,
            `\`${path}\` is where \`${first.at}\` goes already: give one of them another \`path\`.`,
          ),
        ];
  });
}

const placesOf = ({ repos, files }: Pick<ComputerParts, 'repos' | 'files'>) =>
  [
    ...repos.map(({ at, value }) => {
      const repo = repoNamed(value);
      return { at, path: repo.path, what: JSON.stringify(repo) };
    }),
    ...files.map(({ at, value }) => ({ at, path: value.path, what: JSON.stringify(value) })),
  ].map((place) => ({ ...place, path: plainPath(place.path) }));

const plainPath = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');

function repoFaults(
  { at, urlAt, value }: SettingParts['repos'][number],
  refuseAddress: ApplyDependencies['refuseAddress'],
): Fault[] {
  const bad = (message: string) => fault('invalid_repo', urlAt, message);
  const { url } = repoNamed(value);
  const names = url.split('/').slice(2);
  // git would read a folder that begins with a dash as an option.
  if (names.some((name) => name.startsWith('-'))) return [bad('No part of a repository’s address begins with a dash.')];
  const message = refuseAddress(url);
  return [
    ...(message === null ? [] : [bad(message)]),
    ...(value.path === undefined ? [] : pathFaults(value.path, `${at}.path`)),
  ];
}

function pathFaults(path: string, at: string): Fault[] {
  const isElsewhere = path.startsWith('/') && !path.startsWith('/home/agent/');
  const leaves = isElsewhere || path.startsWith('-') || path.split('/').includes('..') || /[\p{Cc}\\]/u.test(path);
  if (!leaves) return [];
  const message =
    'A path leads on from the home folder: it has no `..`, no backslash and no control character, and begins with no dash.';
  return [fault('invalid_manifest', at, message)];
}
