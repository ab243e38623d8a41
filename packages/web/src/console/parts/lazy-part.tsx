import { type ComponentType, createElement, type ReactNode, use, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Waiting } from './page.tsx';

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

type LazyPart<Props> = ((props: Props) => ReactNode) & { preload: () => Promise<void> };

/** A lazily loaded page. It may reload the document, because no input of the previous page is left. */
export const lazyPage = (load: Load<object>): LazyPart<object> => lazily(load, LostPage);

/** A lazily loaded part of a page. */
export const lazyPart = <Props extends object>(load: Load<Props>): LazyPart<Props> => lazily(load, LostPart);

function lazily<Props extends object>(load: Load<Props>, Lost: () => ReactNode): LazyPart<Props> {
  let found: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const preload = () => {
    loading ??= load().then(
      (module) => {
        found = module.default;
      },
      () => {
        found = Lost;
      },
    );
    return loading;
  };
  const show = (props: Props) => {
    if (!found) use(preload());
    return createElement(found as ComponentType<Props>, props);
  };
  return Object.assign(show, { preload });
}

function LostPage() {
  useEffect(() => {
    const leaving = new AbortController();
    void loadAgainWhenAnswered(leaving.signal);
    return () => leaving.abort();
  }, []);
  return <Waiting />;
}

/** Reloads the document, unless that would lose input. */
function LostPart() {
  const [isTyped] = useState(hasUnsaved);
  if (!isTyped) return <LostPage />;
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2.5" role="alert">
      <p className="min-w-0 grow">This part of the page could not be loaded. Copy your input, then reload the page.</p>
      <Button onClick={() => location.reload()} shape="small">
        Reload
      </Button>
    </div>
  );
}

/** Whether the page blocks unloading or has a filled field. */
const hasUnsaved = (): boolean =>
  !window.dispatchEvent(new Event('beforeunload', { cancelable: true })) ||
  [...document.querySelectorAll<HTMLInputElement>('form input, textarea')].some(({ value }) => value !== '');

/** The document is not reloaded more often than this, even if its scripts keep failing. */
const leastAgeMs = 2000;

/** Reloads the document when the server answers. Browsers cache a failed module import until the document is reloaded. */
async function loadAgainWhenAnswered(signal?: AbortSignal): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, Math.max(500, leastAgeMs - performance.now())));
  while (!(await isAnswering()));
  if (!signal?.aborted) location.reload();
}

const isAnswering = (): Promise<boolean> =>
  fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
