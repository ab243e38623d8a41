import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import { type Mode, modes } from '@vestra/contract/route';
import { AcceptPage } from './access/accept-page.tsx';
import { ResetPage } from './access/reset-page.tsx';
import { currentAccess } from './access/session.ts';
import { SignInAgain } from './access/sign-in-again.tsx';
import { SignInPage } from './access/sign-in-page.tsx';
import { consolePath } from './address.ts';
import { keep, kept } from './kept.ts';
import { pages } from './pages.ts';
import { Fault } from './parts/fault.tsx';
import { lazyPage } from './parts/lazy-part.tsx';
import { Notices } from './parts/notices.tsx';
import { Waiting } from './parts/page.tsx';
import { NotFound, NotFoundHere } from './shell/not-found.tsx';
import { ForRole } from './shell/not-yours.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <SignInAgain />
      <Notices />
    </>
  ),
  notFoundComponent: NotFound,
  // Documentation links have no org: they open in the last used org.
  beforeLoad: ({ location }) => {
    const [first = ''] = location.pathname.split('/').slice(1);
    if (isModeName(first)) throw redirect({ href: `/${startingOrg(location.href)}${location.href}` });
  },
});

const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage });
// The target of a failed single sign-on.
const login = createRoute({ getParentRoute: () => root, path: '/login', component: SignInPage });
const accept = createRoute({ getParentRoute: () => root, path: '/accept', component: AcceptPage });
const reset = createRoute({ getParentRoute: () => root, path: '/reset', component: ResetPage });

// The authorization page for MCP clients.
const authorize = createRoute({
  getParentRoute: () => root,
  path: '/authorize',
  component: lazyPage(() => import('./access/authorize-page.tsx')),
  beforeLoad: ({ location }) => void startingOrg(location.href),
});

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: ({ location }) => {
    const org = startingOrg(location.href);
    throw redirect({ to: `/${org}/${startingMode()}` as never });
  },
});

// The target after linking a company account.
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  beforeLoad: ({ location, search }) => {
    const org = startingOrg(location.href);
    throw redirect({ to: `/${org}/${startingMode()}/account` as never, search: search as never });
  },
});

const orgAlone = createRoute({
  getParentRoute: () => root,
  path: '/$org',
  beforeLoad: ({ params, location }) => {
    startingOrg(location.href);
    throw redirect({ to: `/${params.org}/${startingMode()}` as never });
  },
});

const place = createRoute({
  getParentRoute: () => root,
  path: '/$org/$mode',
  component: Shell,
  // Keeps the navigation, which leads on.
  notFoundComponent: NotFoundHere,
  beforeLoad: ({ params, location }) => {
    startingOrg(location.href);
    if (!isModeName(params.mode)) throw redirect({ to: `/${params.org}/${startingMode()}` as never });
    keep('org', params.org);
    keep('mode', params.mode);
  },
});

const below = pages.map(({ path, load, guide, needs, title }) => {
  const Shown = lazyPage(load);
  const component = Object.assign(
    () => (
      <ForRole needs={needs} title={title}>
        <Shown />
      </ForRole>
    ),
    { preload: Shown.preload },
  );
  return createRoute({ getParentRoute: () => place, path, component, staticData: { guide } });
});

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    signIn,
    login,
    accept,
    reset,
    authorize,
    account,
    orgAlone,
    place.addChildren(below),
  ]),
  basepath: consolePath,
  defaultPreload: 'intent',
  scrollRestoration: true,
  scrollToTopSelectors: ['#main'],
  // Search parameters are strings: `?user_id=7` is the user "7".
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
  },
  defaultPendingComponent: () => (
    <div className="px-8">
      <Waiting />
    </div>
  ),
  defaultErrorComponent: ({ error, reset }) => (
    <div className="p-8">
      <Fault error={error as Error} retry={reset} />
    </div>
  ),
  defaultNotFoundComponent: NotFound,
});

const isModeName = (word: string): word is Mode => (modes as readonly string[]).includes(word);

const startingMode = (): Mode => {
  const last = kept('mode') ?? '';
  return isModeName(last) ? last : 'test';
};

/** The last used org, if the member still belongs to it. Redirects to the sign-in page without a session. */
function startingOrg(href: string): string {
  const { session } = currentAccess();
  if (!session) throw redirect({ to: '/sign-in' as never, search: (href === '/' ? {} : { next: href }) as never });
  const last = kept('org');
  return session.orgs.some(({ id }) => id === last) ? (last as string) : session.org.id;
}
