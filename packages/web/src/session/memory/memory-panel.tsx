import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { CloseIcon, TrashIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';

type Page = ResponseOf<Api['memory']['list']>;
type Fact = Page['data'][number];

type MemoryPanelProps = {
  client: Client;
  isOpen: boolean;
  failed: (error: unknown) => void;
  /** Null if the panel is the whole page. */
  close: (() => void) | null;
  /** Whether the user has just opened it. */
  takesFocus: boolean;
};

/** The agent's memory about the user, who can delete it. */
export function MemoryPanel({ client, isOpen, failed, close, takesFocus }: MemoryPanelProps) {
  const words = useWords();
  const [facts, setFacts] = useState<readonly Fact[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  /** Alone it is the page. */
  const Heading = close ? 'h2' : 'h1';

  const attempt = useCallback(
    async (work: () => Promise<void>) => {
      setFailed(false);
      try {
        await work();
      } catch (error) {
        failed(error);
        setFailed(true);
      }
    },
    [failed],
  );
  const load = useCallback(
    (after: string | null) =>
      attempt(async () => {
        const page = await client.memory.list({ limit: 50, ...(after !== null && { cursor: after }) });
        setFacts((before) => [...(after === null ? [] : (before ?? [])), ...page.data]);
        setCursor(page.next_cursor);
      }),
    [client, attempt],
  );
  useEffect(() => void load(null), [load]);
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, [takesFocus]);

  const forget = ({ id }: Fact) =>
    attempt(async () => {
      await client.memory.delete({ memory_id: id });
      setFacts((before) => before?.filter((each) => each.id !== id) ?? null);
      // The focused button was removed with its row.
      heading.current?.focus();
    });
  const forgetAll = () =>
    attempt(async () => {
      await client.memory.deleteAll({});
      setFacts([]);
      setCursor(null);
      heading.current?.focus();
    });

  return (
    <section aria-labelledby="memory" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-5 py-5">
      <header className="flex items-start justify-between gap-2">
        <div>
          <Heading
            className="text-lg font-semibold tracking-tight outline-none"
            id="memory"
            ref={heading}
            tabIndex={-1}
          >
            {words.memory}
          </Heading>
          <p className="text-sm text-muted-foreground">{words.memoryIntro}</p>
        </div>
        {close && (
          <Button aria-label={words.close} className="-my-1.5" look="quiet" onClick={close} shape="icon">
            <CloseIcon />
          </Button>
        )}
      </header>
      {hasFailed && (
        <p className="text-sm text-danger" role="alert">
          {words.wrong}
        </p>
      )}
      {facts?.length === 0 && <p className="text-[0.9375rem] text-muted-foreground">{words.memoryEmpty}</p>}
      <ul className="flex flex-col">
        {facts?.map((fact) => (
          <FactLine fact={fact} forget={isOpen ? () => void forget(fact) : null} key={fact.id} />
        ))}
      </ul>
      {cursor !== null && (
        <Button className="self-start" onClick={() => void load(cursor)}>
          {words.more}
        </Button>
      )}
      {isOpen && facts !== null && facts.length > 0 && <ForgetAll forgetAll={() => void forgetAll()} />}
    </section>
  );
}

function FactLine({ fact, forget }: { fact: Fact; forget: (() => void) | null }) {
  const words = useWords();
  const { text, observed_at } = fact;
  return (
    <li className="flex items-start gap-2 border-b py-3 last:border-b-0">
      <div className="min-w-0 flex-1">
        <p className="leading-snug wrap-anywhere" dir="auto">
          {text}
        </p>
        <time className="text-sm text-muted-foreground" dateTime={observed_at}>
          {new Date(observed_at).toLocaleDateString(undefined, { dateStyle: 'medium' })}
        </time>
      </div>
      {forget && (
        <Button aria-label={words.forget(text)} className="-my-1.5" look="quiet" onClick={forget} shape="icon">
          <TrashIcon className="size-4.5" />
        </Button>
      )}
    </li>
  );
}

/** Confirms in a dialog, so that a double click deletes nothing. */
function ForgetAll({ forgetAll }: { forgetAll: () => void }) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <Button className="mt-auto self-start" look="danger" onClick={() => dialog.current?.showModal()}>
        {words.forgetAll}
      </Button>
      <dialog
        aria-label={words.forgetAll}
        className="m-auto w-[min(24rem,calc(100vw-2rem))] rounded-3xl border bg-card p-6 text-foreground shadow-(--lift) backdrop:bg-black/40"
        ref={dialog}
      >
        <p className="text-[1.0625rem] font-medium leading-snug">{words.forgetAllQuestion}</p>
        <form className="mt-5 flex flex-wrap justify-end gap-2" method="dialog">
          <Button type="submit">{words.cancel}</Button>
          <Button look="danger" onClick={forgetAll} type="submit">
            {words.forgetAll}
          </Button>
        </form>
      </dialog>
    </>
  );
}
