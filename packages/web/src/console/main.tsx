import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { isPassing } from '@vestra/sdk/errors';
import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';
import { readSession } from './access/session.ts';
import { queryClient } from './data/queries.ts';
import { Fault } from './parts/fault.tsx';
import { router } from './router.tsx';
import { applyScheme } from './shell/scheme.ts';

applyScheme();
// Dialogs inject a style rule that stops the page behind them from scrolling.
setNonce(document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '');
// A file dropped outside a target must not replace the page.
for (const type of ['dragover', 'drop']) window.addEventListener(type, (event) => event.preventDefault());

// The page's script loads in parallel with the session request.
const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
for (const route of routes) void router.loadRouteChunk(route);
const root = createRoot(document.getElementById('console') as HTMLElement);
const askAgainMs = 1500;
void open();

async function open(): Promise<void> {
  try {
    if (document.documentElement.dataset.signedOut === undefined) await readSession();
  } catch (error) {
    root.render(
      <main className="mx-auto max-w-md p-6 pt-[20dvh]">
        <Fault error={error as Error} retry={() => location.reload()} />
      </main>,
    );
    if (isPassing(error)) setTimeout(() => void open(), askAgainMs);
    return;
  }
  root.render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}
