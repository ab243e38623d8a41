import { useRole } from '../data/api.ts';
import { useOne } from '../data/queries.ts';
import { ComingName } from './names.tsx';
import { PageLink } from './page-link.tsx';

/** The name of a user: the stored name, the email or the id. Undefined while it loads. */
export function useUserName(id: string | null | undefined): string | undefined {
  const { may } = useRole();
  const isAsked = typeof id === 'string' && may('users.get');
  const user = useOne('users.get', { user_id: id ?? '' }, { enabled: isAsked });
  if (id === undefined || (isAsked && user.isLoading)) return undefined;
  if (id === null) return 'The org’s own agent';
  const found = user.data?.id === id ? user.data : undefined;
  return found?.name ?? found?.email ?? id;
}

/** A link to a user, by name. */
export function UserLink({ id }: { id: string | null }) {
  const name = useUserName(id);
  if (name === undefined) return <ComingName />;
  if (id === null) return <>{name}</>;
  return (
    <PageLink
      className="text-accent underline underline-offset-2 wrap-anywhere"
      title={id}
      to={`/users/${encodeURIComponent(id)}`}
    >
      {name}
    </PageLink>
  );
}
