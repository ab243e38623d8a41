import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { isFramed } from '../embedding/host.ts';
import { ArrowUpIcon, ClipIcon, CloseIcon, FileIcon, StopIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';
import type { Attachment } from './chat-state.ts';
import { keptDraft } from './kept-place.ts';
import type { Uploads } from './use-uploads.ts';

type ComposerProps = {
  conversationId: string;
  uploads: Uploads;
  isBusy: boolean;
  send: (text: string, attachments: readonly Attachment[]) => void;
  stop: () => void;
};

const longestMessage = 32_000;

export function Composer({ conversationId, uploads, isBusy, send, stop }: ComposerProps) {
  const words = useWords();
  const [text, setText] = useState(() => keptDraft.read(conversationId));
  useEffect(() => keptDraft.write(conversationId, text), [conversationId, text]);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isTooLong = text.length > longestMessage;
  const isReady = (text.trim() !== '' || uploads.ready.length > 0) && !uploads.isUploading && !isTooLong;

  // On touch devices the on-screen keyboard must not open by itself.
  useEffect(() => {
    if (window.matchMedia('(pointer: fine)').matches && !isFramed) field.current?.focus();
  }, []);

  const submit = () => {
    if (!isReady) return;
    send(text.trim(), uploads.ready);
    setText('');
    uploads.clear();
    field.current?.focus();
  };
  const keyDown = (event: KeyboardEvent) => {
    // Enter may also confirm an input method composition.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  const paste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    uploads.add(files);
  };

  return (
    <form
      className="mx-auto w-full max-w-3xl px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-6 sm:pb-5"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {(uploads.problem || isTooLong) && (
        <p className="px-4 pb-2 text-sm text-danger" role="alert">
          {isTooLong ? words.tooLong : uploads.problem}
        </p>
      )}
      <div className="panel rounded-[1.625rem] p-1.5 outline-accent has-[textarea:focus]:border-accent has-[textarea:focus]:outline">
        {uploads.files.length > 0 && (
          <ul className="flex flex-wrap gap-2 p-2">
            {uploads.files.map(({ key, name, isUploading, preview }) => (
              <li
                className="flex max-w-full items-center gap-2 rounded-full border py-0.5 ps-3 pe-0.5 text-sm"
                key={key}
              >
                {preview ? (
                  <img
                    alt=""
                    className={`-ms-2 size-8 rounded-full object-cover ${isUploading ? 'animate-breathe' : ''}`}
                    src={preview}
                  />
                ) : (
                  <FileIcon
                    className={`size-4 shrink-0 text-muted-foreground ${isUploading ? 'animate-breathe' : ''}`}
                  />
                )}
                <bdi className="truncate">{name}</bdi>
                {isUploading && <span className="sr-only">{words.uploading}</span>}
                <button
                  aria-label={words.remove(name)}
                  className="pressable grid size-7 shrink-0 place-items-center rounded-full text-muted-foreground hover:bg-muted hover:text-foreground"
                  onClick={() => uploads.remove(key)}
                  type="button"
                >
                  <CloseIcon className="size-3.5" />
                </button>
              </li>
            ))}
          </ul>
        )}
        <div className="flex items-end gap-1">
          <input
            aria-hidden="true"
            className="hidden"
            multiple
            onChange={({ target }) => {
              uploads.add([...(target.files ?? [])]);
              target.value = '';
            }}
            ref={picker}
            tabIndex={-1}
            type="file"
          />
          <Button
            aria-label={words.attach}
            look="quiet"
            onClick={() => picker.current?.click()}
            shape="icon"
            title={words.attach}
          >
            <ClipIcon />
          </Button>
          <textarea
            aria-label={words.message}
            className="field-sizing-content max-h-48 min-h-10 min-w-0 flex-1 resize-none bg-transparent px-1.5 py-2 leading-6 outline-none placeholder:text-muted-foreground"
            // The placeholder follows the direction of the page.
            dir={text === '' ? undefined : 'auto'}
            enterKeyHint="send"
            onChange={({ target }) => setText(target.value)}
            onKeyDown={keyDown}
            onPaste={paste}
            placeholder={words.write}
            ref={field}
            rows={1}
            value={text}
          />
          {isBusy && (
            <Button aria-label={words.stop} onClick={stop} shape="icon" title={words.stop}>
              <StopIcon />
            </Button>
          )}
          <Button
            aria-label={words.send}
            disabled={!isReady}
            look="primary"
            shape="icon"
            title={words.send}
            type="submit"
          >
            <ArrowUpIcon />
          </Button>
        </div>
      </div>
    </form>
  );
}
