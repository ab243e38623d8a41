import { type ComponentType, createElement, type ReactNode, use, useEffect, useState } from 'react';
import { loadAgainWhenAnswered } from '../load-again.ts';
import { Button } from './button.tsx';
import { Waiting } from './page.tsx';

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

type LazyPart<Props> = ((props: Props) => ReactNode) & { preload: () => Promise<void> };

/** A page whose script is loaded when it is first gone to. Whatever was typed on the one before has been left by then. */
export const lazyPage = (load: Load<object>): LazyPart<object> => lazily(load, LostPage);

/** A part of a page whose script is loaded when it is first shown. */
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

/** The page is loaded anew for it, unless something was typed that would be gone. */
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

/** Whether the page would ask before its tab is closed, or something may have been written in a field of it. */
const hasUnsaved = (): boolean =>
  !window.dispatchEvent(new Event('beforeunload', { cancelable: true })) ||
  [...document.querySelectorAll<HTMLInputElement>('form input, textarea')].some(({ value }) => value !== '');
