import type { ReactNode } from 'react';
import { rolesFor, useRole } from '../data/api.ts';
import type { RowName } from '../data/rows.ts';
import { Page } from '../parts/page.tsx';

const listed = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** Shows a page, or for a role that may not open it, who may. */
export function ForRole({ needs, title, children }: { needs: RowName | null; title: string; children: ReactNode }) {
  const { role, may } = useRole();
  if (needs === null || may(needs)) return children;
  const names = rolesFor(needs).map((each) => `${each}s`);
  return (
    <Page title={title}>
      <div className="max-w-prose">
        <p className="font-medium">This page is not part of your role.</p>
        <p className="mt-1 text-quiet">
          You are a {role} of this org. Its {listed.format(names)} can open this page. Ask one of them to look for you,
          or to change your role.
        </p>
      </div>
    </Page>
  );
}
