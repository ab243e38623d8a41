import { useState } from 'react';
import { useChange } from '../../data/queries.ts';
import type { Request } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';

type ComposerProps = {
  /** Whether it was taken: what was refused stands in the field again. */
  onSend: (text: string, files: readonly string[]) => Promise<boolean>;
  isBusy: boolean;
  request: Request;
  /** Whose files are attached. */
  user: string;
};

/** Enter sends, Shift and Enter begins a line. Files come along by the button, or dropped here. */
export function Composer({ onSend, isBusy, request, user }: ComposerProps) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly { id: string; filename: string }[]>([]);
  const upload = useChange('files.create', {
    onDone: ({ id, filename }) => setFiles((before) => [...before, { id, filename: filename ?? 'a file' }]),
  });
  const add = (chosen: FileList | null) => {
    for (const file of chosen ?? []) upload.run({ file, user_id: user } as never);
  };
  const isEmpty = text.trim() === '' && files.length === 0;
  const run = async () => {
    if (isEmpty || isBusy || upload.isRunning) return;
    setText('');
    setFiles([]);
    const ids = files.map(({ id }) => id);
    if (await onSend(text, ids)) return;
    setText((now) => now || text);
    setFiles((now) => (now.length > 0 ? now : files));
  };
  return (
    <form
      className="panel p-2"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => add(event.dataTransfer.files)}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {files.length > 0 && (
        <ul className="mb-1 flex flex-wrap gap-1.5">
          {files.map(({ id, filename }) => (
            <li className="flex items-center gap-1 rounded-sm bg-muted px-2 text-sm" key={id}>
              {filename}
              <button
                aria-label={`Remove ${filename}`}
                onClick={() => setFiles(files.filter((each) => each.id !== id))}
                type="button"
              >
                <Icon className="size-3" name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {upload.error && <Fault className="mb-2" error={upload.error} />}
      <div className="flex items-end gap-2">
        <textarea
          aria-label="Message"
          className="field-sizing-content max-h-48 min-h-8 min-w-0 grow resize-none bg-transparent px-1 py-1 outline-none"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void run();
          }}
          placeholder="Send a message"
          rows={1}
          value={text}
        />
        <label className="grid size-8 place-items-center rounded-md text-quiet hover:bg-muted has-focus-visible:outline-2 has-focus-visible:outline-accent">
          <span className="sr-only">Attach files</span>
          <Icon name="plus" />
          <input
            className="sr-only"
            multiple
            onChange={(event) => {
              add(event.target.files);
              event.target.value = '';
            }}
            type="file"
          />
        </label>
        <RequestMenu label="Copy this message as an API request" request={request} />
        <Button disabled={isEmpty} isBusy={isBusy || upload.isRunning} look="primary" type="submit">
          Send
        </Button>
      </div>
    </form>
  );
}
