import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callApi, type OrgAndMode, useOrgAndMode, useRole } from '../data/api.ts';
import { useList } from '../data/queries.ts';

export type Names = ReturnType<typeof useNames>;

/** Names of the newest users and deployments, for lists. `UserName` and `DeploymentName` request those of the others. */
export function useNames() {
  const { may } = useRole();
  const users = useList('users.list', {} as never, { limit: 100, enabled: may('users.list') });
  const deployments = useList('deployments.list', {} as never, { limit: 100, enabled: may('deployments.list') });
  // Apart, because a user's id is any text and may be the id of a deployment.
  const nameOfUser = new Map(users.rows.map((user) => [user.id, nameOf(user)]));
  const nameOfDeployment = new Map(deployments.rows.map(({ id, name }) => [id, name]));
  return {
    isLoading: users.isLoading || deployments.isLoading,
    user: (id: string) => nameOfUser.get(id),
    deployment: (id: string) => nameOfDeployment.get(id),
    /** The choices of a filter by deployment. */
    deployments: deployments.rows.map(({ slug, name }) => [slug, name] as const),
    /** The same for a filter that takes ids. */
    deploymentIds: deployments.rows.map(({ id, name }) => [id, name] as const),
  };
}

type NameProps = { id: string; names: Names };

/** The name of a user in a list: the stored name, the email or the id. */
export function UserName({ id, names }: NameProps) {
  const name = useName('users.get', id, names, names.user(id));
  return <span title={name === undefined || name === id ? id : `${name} (${id})`}>{name ?? <ComingName />}</span>;
}

export const DeploymentName = ({ id, names }: NameProps) => (
  <>{useName('deployments.get', id, names, names.deployment(id)) ?? <ComingName />}</>
);

/** An id that turns into a name would move the text around it. */
export const ComingName = () => <span className="inline-block h-4 w-28 max-w-full rounded-sm bg-muted align-middle" />;

/** The names of a few users, by id. */
export function useUserNames(ids: readonly string[], names: Names): ReadonlyMap<string, string> {
  const place = useOrgAndMode();
  const { may } = useRole();
  const unknown = may('users.get') && !names.isLoading ? ids.filter((id) => names.user(id) === undefined) : [];
  const found = useQueries({ queries: unknown.map((id) => nameRequest(place, 'users.get', id)) });
  return new Map([
    ...ids.map((id) => [id, names.user(id) ?? id] as const),
    ...unknown.map((id, at) => [id, found[at]?.data ?? id] as const),
  ]);
}

type NamedRow = 'users.get' | 'deployments.get';

/** A row that is only scrolled past requests nothing. */
const settledMs = 150;

/** Undefined while the name loads. The id, if there is no name or the role may not read it. */
function useName(row: NamedRow, id: string, { isLoading }: Names, known: string | undefined): string | undefined {
  const place = useOrgAndMode();
  const { may } = useRole();
  const [isSettled, setIsSettled] = useState(false);
  const isWanted = known === undefined && !isLoading && may(row);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(() => setIsSettled(true), settledMs);
    return () => clearTimeout(timer);
  }, [isWanted]);
  const { data, isError } = useQuery({ ...nameRequest(place, row, id), enabled: isWanted && isSettled });
  return known ?? data ?? (isError || !may(row) ? id : undefined);
}

/** The key is of no family of calls: events would otherwise request the name of every row again. */
const nameRequest = (place: OrgAndMode, row: NamedRow, id: string) => ({
  queryKey: [place.org, place.mode, 'names', { row, id }],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    row === 'users.get'
      ? nameOf(await callApi(place, row, { user_id: id }, { signal, retries: 0 }))
      : (await callApi(place, row, { deployment_id: id }, { signal, retries: 0 })).name,
  staleTime: 5 * 60_000,
});

const nameOf = ({ id, name, email }: { id: string; name: string | null; email: string | null }) => name ?? email ?? id;
