import access from 'virtual:contract/access';
import { useParams } from '@tanstack/react-router';
import { type Mode, type Role, roles } from '@vestra/contract/route';
import { type Client, createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import type { CallOptions } from '@vestra/sdk/transport';
import { useMemo } from 'react';
import { currentAccess, readSession, signedInAgain, useAccess } from '../access/session.ts';
import { serverUrl } from '../address.ts';
import type { Fields, RouteAnswer, RowName } from './rows.ts';

/** The org and mode of the address. */
export type OrgAndMode = { org: string; mode: Mode };

export function useOrgAndMode(): OrgAndMode {
  const { org, mode } = useParams({ strict: false }) as { org: string; mode: Mode };
  return useMemo(() => ({ org, mode }), [org, mode]);
}

/** The member's role in the org of the address, and the calls it allows. */
export function useRole(): { role: Role; may: (row: RowName) => boolean } {
  const { org } = useOrgAndMode();
  const { session } = useAccess();
  const role = session?.orgs.find(({ id }) => id === org)?.role ?? 'viewer';
  return useMemo(() => ({ role, may: (row) => mayCall(role, row) }), [role]);
}

/** Makes one API call. If the session has expired, the call waits for the next sign-in and is repeated. */
export function callApi<Name extends RowName>(
  place: OrgAndMode,
  row: Name,
  fields: Fields<Name>,
  options: CallOptions = {},
): Promise<RouteAnswer<Name>> {
  return whileSignedIn((client) => {
    const [family, operation] = row.split('.') as [string, string];
    const families = client as unknown as Record<string, Record<string, (...given: unknown[]) => Promise<unknown>>>;
    return families[family]?.[operation]?.(fields, options) as Promise<RouteAnswer<Name>>;
  }, place);
}

/** Runs `use` with a client for the org and mode, and repeats it after a new sign-in. */
export async function whileSignedIn<T>(use: (client: Client) => Promise<T>, place: OrgAndMode): Promise<T> {
  let isTokenRenewed = false;
  for (;;) {
    const { session } = currentAccess();
    try {
      return await use(clientFor(place));
    } catch (error) {
      if (!(error instanceof VestraError)) throw error;
      if (error.code === 'console_login_required' || error.code === 'key_missing') {
        // If the session has changed meanwhile, the call belongs to the old one and is only repeated.
        if (session === currentAccess().session) await signedInAgain();
      } else if (error.code === 'csrf_required' && !isTokenRenewed) {
        // Another tab signed in: the cookie belongs to the new session.
        isTokenRenewed = true;
        if (!(await readSession())) await signedInAgain();
      } else throw error;
    }
  }
}

const clients = new Map<string, Client>();

function clientFor({ org, mode }: OrgAndMode): Client {
  const token = currentAccess().session?.csrf_token ?? '';
  const name = `${org} ${mode} ${token}`;
  const known = clients.get(name);
  if (known) return known;
  const headers = { 'service-org': org, 'service-mode': mode, 'x-csrf-token': token };
  const client = createClient({ baseUrl: serverUrl, headers });
  clients.set(name, client);
  return client;
}

/** The roles that may make the call, the most powerful first. */
export const rolesFor = (row: RowName): Role[] => roles.filter((role) => mayCall(role, row));

/** The server enforces this. The console only hides what the server would reject. */
const mayCall = (role: Role, row: RowName): boolean => access[row]?.includes(role) ?? true;
