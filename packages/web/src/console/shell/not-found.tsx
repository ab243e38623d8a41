import { Link } from '@tanstack/react-router';

/** Below the navigation of an org, which is its landmark. */
export const NotFoundHere = () => (
  <div className="mx-auto max-w-md px-6 pt-[18dvh]">
    <h1 className="font-semibold text-xl">Page not found</h1>
    <p className="mt-1 text-quiet">The address may be mistyped, or the resource was deleted.</p>
    <Link className="mt-4 inline-block text-accent underline underline-offset-2" to="/">
      Go to Home
    </Link>
  </div>
);

export const NotFound = () => (
  <main>
    <NotFoundHere />
  </main>
);
