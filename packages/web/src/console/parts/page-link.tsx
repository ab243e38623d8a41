import { Link, useNavigate } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { type OrgAndMode, useOrgAndMode } from '../data/api.ts';

const addressIn = ({ org, mode }: OrgAndMode, to: string) => `/${org}/${mode}${to === '/' ? '' : to}`;

type PageLinkProps = Omit<ComponentProps<'a'>, 'href'> & {
  /** The path below org and mode, such as `/deployments/dep_…`. */
  to: string;
  search?: Record<string, string>;
  children?: ReactNode;
};

/** A link to another page in the same org and mode. */
export function PageLink({ to, search, ...rest }: PageLinkProps) {
  const place = useOrgAndMode();
  // Callers mark the current link themselves, because a child page also matches its parent.
  return (
    <Link
      activeOptions={{ exact: true }}
      {...(rest as object)}
      search={(search ?? {}) as never}
      to={addressIn(place, to) as never}
    />
  );
}

export function useGo(): (to: string, search?: Record<string, string>) => void {
  const place = useOrgAndMode();
  const navigate = useNavigate();
  return (to, search) => void navigate({ to: addressIn(place, to), search: (search ?? {}) as never } as never);
}
