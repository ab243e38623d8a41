import { type ErrorCode, type Failure, type Fault, fail } from '@vestra/contract/errors';
import {
  headerExposesCredential,
  urlExposesCredential,
  variableExposesCredential,
} from '@vestra/contract/exposed-credential';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { readToolInput } from '@vestra/contract/tool-input';
import { addressOf } from '../../agents/tool-servers/index.ts';
import { repoNamed } from '../../agents/versions/index.ts';
import { noSuchModel } from '../../platform/config/no-such-model.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import type { FunctionEntry, PlacedEntry, ServerEntry, SettingParts } from './parts.ts';
import { nameOfServer } from './servers.ts';

/** Faults of the settings that files and manifests share, without reading the database. */
export async function settingFaults(
  parts: SettingParts,
  { models, refuseAddress, faultOfSchema }: Pick<ApplyDependencies, 'models' | 'refuseAddress' | 'faultOfSchema'>,
): Promise<Fault[]> {
  return [
    ...parts.model.flatMap(({ at, value }) => modelFaults(models, at, value)),
    ...(await functionFaults(parts.functions, { faultOfSchema })),
    ...computerFaults(parts, { refuseAddress }),
  ];
}

/** Existing versions may keep a retired model, but new ones must not use it. */
function modelFaults({ catalogue }: ApplyDependencies['models'], at: string, id: string): Fault[] {
  if (!catalogue.has(id)) return [fault('invalid_manifest', at, noSuchModel(catalogue, id))];
  const model = catalogue.find('test', id);
  return model?.isRetired ? [fault('invalid_manifest', at, String(model.unavailable_reason))] : [];
}

async function functionFaults(
  functions: readonly PlacedEntry<FunctionEntry>[],
  { faultOfSchema }: Pick<ApplyDependencies, 'faultOfSchema'>,
): Promise<Fault[]> {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const { at, value } of functions) {
    const { function: name, input } = value;
    if (name !== undefined) faults.push(...nameFaults(name, `${at}.function`, seen));
    if (input !== undefined) faults.push(...(await inputFaults(input, `${at}.input`, faultOfSchema)));
    faults.push(...approverFaults(value, `${at}.approver`));
  }
  return faults;
}

/** `approver: org` requires that an approval is asked for. */
function approverFaults({ approver, read_only, run_without_asking }: Partial<FunctionEntry>, at: string): Fault[] {
  if (approver !== 'org' || !(read_only || run_without_asking)) return [];
  const flag = read_only ? 'read_only' : 'run_without_asking';
  const message = `Nobody approves a function with \`${flag}\`: remove it, or \`approver\`.`;
  return [fault('invalid_manifest', at, message)];
}

function nameFaults(name: string, at: string, seen: Set<string>): Fault[] {
  if (reservedToolNames.has(name)) {
    return [fault('tool_name_reserved', at, `\`${name}\` is a tool of the agent’s own. Choose another name.`)];
  }
  if (seen.has(name)) return [fault('duplicate_name', at, `Two functions are called \`${name}\`.`)];
  seen.add(name);
  return [];
}

/** The form of the file already checks the shorthand. */
async function inputFaults(
  input: Record<string, unknown>,
  at: string,
  faultOfSchema: ApplyDependencies['faultOfSchema'],
): Promise<Fault[]> {
  const { schema, isShorthand } = readToolInput(input);
  const message = isShorthand ? null : await faultOfSchema(schema);
  return message === null ? [] : [fault('invalid_tool_input', at, message)];
}

export function serverFaults(
  servers: readonly PlacedEntry<ServerEntry>[],
  { refuseAddress }: Pick<ApplyDependencies, 'refuseAddress'>,
): Fault[] {
  const addresses = new Set<string>();
  const names = new Set<string>();
  return servers.flatMap((server) => [
    ...urlFaults(server, refuseAddress),
    ...repeatedServer(server, addresses, names),
    ...credentialFaults(server),
  ]);
}

function urlFaults(
  { at, value: { mcp } }: PlacedEntry<ServerEntry>,
  refuseAddress: ApplyDependencies['refuseAddress'],
): Fault[] {
  if (mcp === undefined) return [];
  if (urlExposesCredential(mcp)) {
    const message = 'The URL carries a credential: store it as a secret and give it as `auth` or in `headers`.';
    return [fault('secret_in_url', `${at}.mcp`, message)];
  }
  const message = refuseAddress(mcp);
  return message === null ? [] : [fault('invalid_manifest', `${at}.mcp`, message)];
}

function repeatedServer(
  { at, value: { mcp, name: given } }: PlacedEntry<ServerEntry>,
  addresses: Set<string>,
  names: Set<string>,
): Fault[] {
  if (mcp === undefined) return [];
  const address = addressOf(mcp);
  if (addresses.has(address)) return [fault('duplicate_name', `${at}.mcp`, 'This server is there twice.')];
  addresses.add(address);
  const name = nameOfServer({ mcp, name: given });
  if (names.has(name)) {
    const place = given === undefined ? at : `${at}.name`;
    return [fault('duplicate_name', place, `Two servers are called \`${name}\`. Give one of them another \`name\`.`)];
  }
  names.add(name);
  return [];
}

function credentialFaults({ at, value: { auth, headers = {} } }: PlacedEntry<ServerEntry>): Fault[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  const twice = names.filter((_, index) => lower.indexOf(lower[index] as string) < index);
  const raw = Object.entries(headers).filter(([name, value]) => headerExposesCredential(name, value));
  return [
    ...(auth !== undefined && lower.includes('authorization')
      ? [fault('auth_twice', `${at}.auth`, 'Send either `auth` or an Authorization header, not both.')]
      : []),
    ...twice.map((name) =>
      fault(
        'invalid_manifest',
        `${at}.headers.${name}`,
        'This header is there twice: upper and lower case are the same.',
      ),
    ),
    ...raw.map(([name]) =>
      fault(
        'raw_secret_in_header',
        `${at}.headers.${name}`,
        'Store the credential as a secret and write ${NAME} here.',
      ),
    ),
  ];
}

type ComputerParts = Pick<SettingParts, 'setup' | 'repos' | 'env' | 'files'>;

function computerFaults(parts: ComputerParts, { refuseAddress }: Pick<ApplyDependencies, 'refuseAddress'>): Fault[] {
  return [
    ...setupFaults(parts),
    ...parts.repos.flatMap((repo) => repoFaults(repo, refuseAddress)),
    ...parts.env
      .filter(({ name, value }) => variableExposesCredential(name, value))
      .map(({ at, name }) =>
        fault('raw_secret_in_header', at, `Store the credential as a secret and write \`\${${name}}\` instead.`),
      ),
    ...parts.files.flatMap(({ at, value }) => pathFaults(value.path, `${at}.path`)),
    ...repeatedPathFaults(parts),
  ];
}

/** A file name would run as a command and fail on every computer, unless something puts that file there. */
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

/** Two entries with one path would replace each other at every task. A repeated entry is saved once. */
function repeatedPathFaults(parts: ComputerParts): Fault[] {
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
  const { url, path } = repoNamed(value);
  const names = url.split('/').slice(2);
  // git would read a folder that begins with a dash as an option.
  if (names.some((name) => name.startsWith('-'))) return [bad('No part of a repository’s address begins with a dash.')];
  const isNamedFolder = value.path !== undefined || /^[^.]/.test(path);
  if (!isNamedFolder) return [bad('A repository whose name begins with a dot needs a `path` without one.')];
  const message = refuseAddress(url);
  return [
    ...(message === null ? [] : [bad(message)]),
    ...(value.path === undefined
      ? []
      : [...pathFaults(value.path, `${at}.path`), ...hiddenFaults(value.path, `${at}.path`)]),
  ];
}

/** A repository could place keys in `.ssh`, or hooks in the `.git` of another repository. */
function hiddenFaults(path: string, at: string): Fault[] {
  if (plainPath(path.replace(/^\/home\/agent\//, '')) === '') {
    return [fault('invalid_manifest', at, 'A repository needs a folder of its own below the home folder.')];
  }
  const isHidden = path.split('/').some((name) => /^\.(?!\.?$)/.test(name));
  return isHidden ? [fault('invalid_manifest', at, 'No part of a repository’s `path` begins with a dot.')] : [];
}

function pathFaults(path: string, at: string): Fault[] {
  const isElsewhere = path.startsWith('/') && !path.startsWith('/home/agent/');
  const leaves = isElsewhere || path.startsWith('-') || path.split('/').includes('..') || /[\p{Cc}\\]/u.test(path);
  if (!leaves) return [];
  const message =
    'A path leads on from the home folder: it has no `..`, no backslash and no control character, and begins with no dash.';
  return [fault('invalid_manifest', at, message)];
}

export const fault = (code: ErrorCode, param: string, message: string): Fault => ({ code, param, message });

/** Bounds the response for a hostile file with a hundred thousand faults. */
const maxFaults = 100;

/** One failure for all faults, with the code and place of the first. */
export function refusal(faults: readonly [Fault, ...Fault[]], missingSecrets: readonly string[] = []): Failure {
  const [{ code, param, message }] = faults;
  return fail(code, {
    param,
    message,
    errors: faults.slice(0, maxFaults),
    ...(missingSecrets.length > 0 && { names: [...missingSecrets] }),
  });
}

export const isRefused = (faults: readonly Fault[]): faults is readonly [Fault, ...Fault[]] => faults.length > 0;

/** Sorts faults in the order of the request body. `at` is the prefix of each path. */
export function inOrderOf(keys: readonly string[], faults: readonly Fault[], at = ''): Fault[] {
  const place = ({ param }: Fault) => {
    const [key = '', index = ''] = param.slice(at.length).split('.');
    return [keys.indexOf(key), /^\d+$/.test(index) ? Number(index) : -1] as const;
  };
  return [...faults].sort((one, other) => {
    const [key, index] = place(one);
    const [otherKey, otherIndex] = place(other);
    return key - otherKey || index - otherIndex;
  });
}
