import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Fragment, Suspense, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { signOut, useAccess } from '../access/session.ts';
import { serverUrl } from '../address.ts';
import { useOrgAndMode, useRole } from '../data/api.ts';
import { Live } from '../data/live.ts';
import { usePendingCount } from '../data/pending.ts';
import { queryClient } from '../data/queries.ts';
import { groups, pages } from '../pages.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { lazyPart } from '../parts/lazy-part.tsx';
import { Menu } from '../parts/menu.tsx';
import { PageLink, useGo } from '../parts/page-link.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { OrgSwitch } from './org-switch.tsx';
import { applyScheme, currentScheme } from './scheme.ts';

/** The frame of all pages: navigation, org and mode switches, and the palette. */
export function Shell() {
  const { org, mode } = useOrgAndMode();
  const { session } = useAccess();
  const isMember = session?.orgs.some(({ id }) => id === org) ?? false;
  return (
    <div className="flex h-dvh flex-col">
      <a
        className="sr-only focus:not-sr-only focus:fixed focus:z-60 focus:m-2 focus:rounded-md focus:bg-primary focus:px-3 focus:py-1.5 focus:text-on-primary"
        href="#main"
      >
        Skip to content
      </a>
      {mode === 'test' && (
        <section
          aria-label="Mode"
          className="test-stripes flex h-6 shrink-0 items-center justify-center px-3 font-medium text-on-test text-xs"
          data-mode-banner=""
        >
          Test mode<span className="max-sm:hidden">: test users, test money, the draft of each deployment</span>
        </section>
      )}
      <div className="flex min-h-0 grow max-md:flex-col">
        <TopBar />
        <aside aria-label="Navigation" className="hidden w-(--sidebar-width) shrink-0 border-r bg-surface md:block">
          <Sidebar />
        </aside>
        <main
          className="min-h-0 min-w-0 grow overflow-y-auto"
          data-scroll-restoration-id="main"
          id="main"
          tabIndex={-1}
        >
          {isMember ? (
            // The key discards all state when the org or mode changes.
            <Fragment key={`${org} ${mode}`}>
              <Live />
              <Outlet />
            </Fragment>
          ) : (
            <Stranger />
          )}
        </main>
      </div>
      <Palette />
    </div>
  );
}

function Stranger() {
  return (
    <div className="mx-auto max-w-md px-6 pt-[14dvh]">
      <h1 className="font-semibold text-xl">You are not a member of this org</h1>
      <p className="mt-1 text-quiet">Ask an owner of this org to invite you, or choose another org.</p>
      <div className="mt-4 w-64">
        <OrgSwitch />
      </div>
    </div>
  );
}

/** The top bar on phones. */
function TopBar() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-surface px-2 md:hidden">
      <Button aria-label="Open the navigation" look="quiet" onClick={() => setIsOpen(true)} shape="icon">
        <Icon name="menu" />
      </Button>
      <div className="min-w-0 grow">
        <OrgSwitch />
      </div>
      <ModeSwitch />
      <Dialog isOpen={isOpen} onClose={() => setIsOpen(false)} title="Navigation">
        <Sidebar isDrawer onGo={() => setIsOpen(false)} />
      </Dialog>
    </header>
  );
}

/** The navigation: pages that the role may open, by group. */
function Sidebar({ isDrawer = false, onGo }: { isDrawer?: boolean; onGo?: () => void }) {
  const { may } = useRole();
  const at = `/${useLocation().pathname.split('/').slice(3).join('/')}`;
  const shown = pages.filter((page) => page.nav && (page.needs === null || may(page.needs)));
  const pending = usePendingCount();
  const isAt = (path: string) => (path === '/' ? at === '/' : at === path || at.startsWith(`${path}/`));
  const chosen = shown.find(({ path }) => isAt(path))?.path;
  const menu = useRef<HTMLElement>(null);
  // In a low window the chosen entry may be outside the part of the navigation that is in view. A ref on the link runs
  // only when the link is mounted, and not when another link becomes the chosen one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another entry was chosen.
  useEffect(() => {
    menu.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
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
            <kbd className="font-sans text-xs">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
        </div>
      )}
      <nav aria-label="Pages" className="min-h-0 grow overflow-y-auto px-2 pb-4 low:pb-2" ref={menu}>
        {groups.map((group) => {
          const within = shown.filter((page) => page.nav?.group === group);
          if (within.length === 0) return null;
          return (
            <div className="mt-3 first:mt-1 low:mt-1.5" key={group}>
              {group && <p className="eyebrow px-2 pb-1 leading-4 low:pb-0.5">{group}</p>}
              <ul>
                {within.map(({ path, title, nav }) => (
                  <li key={path}>
                    <PageLink
                      aria-current={isAt(path) ? 'page' : undefined}
                      className="flex h-7.5 items-center gap-2.5 rounded-md px-2 text-quiet hover:bg-muted hover:text-foreground aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent low:h-6.5 pointer-coarse:h-10"
                      onClick={onGo}
                      to={path}
                    >
                      {nav && <Icon className="size-4" name={nav.icon} />}
                      {title}
                      {path === '/inbox' && pending !== '' && (
                        <span className="figures ml-auto rounded-full bg-warn-soft px-1.5 font-medium text-warn text-xs leading-5">
                          {pending}
                          <span className="sr-only"> pending</span>
                        </span>
                      )}
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
            {name && <span className="block truncate text-quiet text-xs low:hidden">{email}</span>}
          </span>
          <Icon className="size-4 text-quiet" name="more" />
          <span className="sr-only">: account and appearance</span>
        </button>
      </Menu>
    </div>
  );
}

const isApple = /mac|iphone|ipad/i.test(navigator.platform);

const PaletteDialog = lazyPart(() => import('./palette-dialog.tsx'));

/** Opens with ⌘K or Ctrl K. Its content is loaded on first use. */
function Palette() {
  const isOpen = usePaletteOpen();
  // Before the page is drawn: a key that is pressed at first sight must not be lost.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      event.preventDefault();
      openPalette();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  if (!isOpen) return null;
  return (
    // Positions the loading error: the dialog itself is positioned fixed.
    <div className="fixed inset-x-4 top-4 z-60">
      <Suspense>
        <PaletteDialog onClose={closePalette} />
      </Suspense>
    </div>
  );
}

let isOpen = false;
const listeners = new Set<() => void>();

function become(next: boolean): void {
  isOpen = next;
  for (const listener of listeners) listener();
}

const openPalette = () => become(true);
const closePalette = () => become(false);

const usePaletteOpen = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => isOpen,
  );
