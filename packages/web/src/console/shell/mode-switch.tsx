import { Link, useLocation } from '@tanstack/react-router';
import { modes } from '@vestra/contract/route';
import { useOrgAndMode } from '../data/api.ts';

/** The mode is part of the URL. Resources exist in one mode only, so it leads to the list, except for deployments. */
export function ModeSwitch() {
  const { org, mode } = useOrgAndMode();
  const { pathname } = useLocation();
  const [list = '', ...row] = pathname.split('/').slice(3);
  const page = [list, ...(list === 'deployments' ? row : [])].join('/');
  return (
    <nav aria-label="Mode" className="grid shrink-0 grid-cols-2 rounded-md border bg-muted p-0.5 text-sm">
      {modes.map((each) => (
        <Link
          aria-current={each === mode ? 'true' : undefined}
          className="rounded-sm px-2.5 py-0.5 text-center font-medium text-quiet hover:text-foreground [&[aria-current]]:bg-surface [&[aria-current]]:text-foreground [&[aria-current]]:shadow-[0_0_0_1px_var(--line)]"
          key={each}
          search={{} as never}
          to={`/${org}/${each}${page && `/${page}`}` as never}
        >
          {each === 'test' ? 'Test' : 'Live'}
        </Link>
      ))}
    </nav>
  );
}
