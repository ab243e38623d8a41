import { Outlet } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { useAccess } from '../access/session.ts';
import { usePlace } from '../data/api.ts';
import { Live } from '../data/live.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { OrgSwitch } from './org-switch.tsx';
import { Palette } from './palette.tsx';
import { Sidebar } from './sidebar.tsx';

/** What stays while pages change: navigation, org and mode, the palette. */
export function Shell() {
  const { org, mode } = usePlace();
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
            // Nothing of one org or mode stays on show in another.
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

/** On a phone: the name of the org, and the navigation behind a button. */
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
