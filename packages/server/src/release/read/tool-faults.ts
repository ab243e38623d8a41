import type { Fault } from '@vestra/contract/errors';
import { headerExposesCredential, urlExposesCredential } from '@vestra/contract/exposed-credential';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { readToolInput } from '@vestra/contract/tool-input';
import type { ApplyDependencies } from '../dependencies.ts';
import type { FunctionEntry, PlacedEntry, ServerEntry } from '../file/parts.ts';
import { addressOf, nameOfServer } from '../file/server-entry.ts';
import { fault } from './refusal.ts';

export async function functionFaults(
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

/** Whoever names the org means that it is asked. */
function approverFaults({ approver, read_only, run_without_asking }: Partial<FunctionEntry>, at: string): Fault[] {
  if (approver !== 'org' || !(read_only || run_without_asking)) return [];
  const flag = read_only ? 'read_only' : 'run_without_asking';
  const message = `Nobody is asked for a function with \`${flag}\`: leave out that, or \`approver\`.`;
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

/** The shorthand is checked with the form of the file. */
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
      ? [fault('auth_twice', `${at}.auth`, 'Give either `auth` or an Authorization header, not both.')]
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
