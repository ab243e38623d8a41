import { useLocation, useNavigate } from '@tanstack/react-router';
import { signOut, useAccess } from '../access/session.ts';
import { serverUrl } from '../address.ts';
import { useRole } from '../data/api.ts';
import { queryClient } from '../data/queries.ts';
import { groups, pages } from '../pages.ts';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { PageLink, useGo } from '../parts/page-link.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { OrgSwitch } from './org-switch.tsx';
import { openPalette } from './palette-state.ts';
import { applyScheme, currentScheme } from './scheme.ts';

/** Pages that the role opens, by group. */
export function Sidebar({ isDrawer = false, onGo }: { isDrawer?: boolean; onGo?: () => void }) {
  const { may } = useRole();
  const at = `/${useLocation().pathname.split('/').slice(3).join('/')}`;
  const shown = pages.filter((page) => page.nav && (page.needs === null || may(page.needs)));
  const isAt = (path: string) => (path === '/' ? at === '/' : at === path || at.startsWith(`${path}/`));
  return (
    <div className="flex h-full flex-col">
      {!isDrawer && (
        <div className="space-y-2 p-2">
          <OrgSwitch />
          <ModeSwitch />
          <button
            className="flex h-8 w-full items-center gap-2 rounded-md border px-2 text-quiet text-sm hover:bg-muted"
            onClick={openPalette}
            type="button"
          >
            <Icon className="size-3.5" name="search" />
            <span className="grow text-left">Search or jump to</span>
            <kbd className="font-sans text-xs">⌘K</kbd>
          </button>
        </div>
      )}
      <nav aria-label="Pages" className="min-h-0 grow overflow-y-auto px-2 pb-4">
        {groups.map((group) => {
          const within = shown.filter((page) => page.nav?.group === group);
          if (within.length === 0) return null;
          return (
            <div className="mt-3 first:mt-1" key={group}>
              {group && <p className="eyebrow px-2 pb-1">{group}</p>}
              <ul>
                {within.map(({ path, title, nav }) => (
                  <li key={path}>
                    <PageLink
                      aria-current={isAt(path) ? 'page' : undefined}
                      className="flex h-7.5 items-center gap-2.5 rounded-md px-2 text-quiet hover:bg-muted hover:text-foreground aria-[current=page]:bg-muted aria-[current=page]:font-medium aria-[current=page]:text-foreground pointer-coarse:h-10"
                      onClick={onGo}
                      to={path}
                    >
                      {nav && <Icon className="size-4" name={nav.icon} />}
                      {title}
                    </PageLink>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <Person />
    </div>
  );
}

function Person() {
  const { session } = useAccess();
  const navigate = useNavigate();
  const go = useGo();
  if (!session) return null;
  const { name, email } = session.member;
  const scheme = currentScheme();
  const leave = async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: '/sign-in' as never });
  };
  return (
    <div className="border-t p-2">
      <Menu
        align="start"
        items={[
          { label: 'Light', icon: 'sun', isChosen: scheme === 'light', run: () => applyScheme('light') },
          { label: 'Dark', icon: 'moon', isChosen: scheme === 'dark', run: () => applyScheme('dark') },
          { label: 'System', icon: 'screen', isChosen: scheme === 'system', run: () => applyScheme('system') },
          'line',
          { label: 'Your account', icon: 'user', run: () => go('/account') },
          {
            label: 'API reference',
            icon: 'external',
            run: () => window.open(`${serverUrl}/docs`, '_blank', 'noopener'),
          },
          'line',
          { label: 'Sign out', icon: 'leave', run: () => void leave() },
        ]}
      >
        <button
          className="flex w-full min-w-0 items-center gap-2 rounded-md p-1.5 text-left hover:bg-muted"
          type="button"
        >
          <span className="min-w-0 grow leading-tight">
            <span className="block truncate font-medium text-sm">{name ?? email}</span>
            {name && <span className="block truncate text-quiet text-xs">{email}</span>}
          </span>
          <Icon className="size-4 text-quiet" name="more" />
          <span className="sr-only">: account and appearance</span>
        </button>
      </Menu>
    </div>
  );
}
