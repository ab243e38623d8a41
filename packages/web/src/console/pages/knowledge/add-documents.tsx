import { VestraError } from '@vestra/sdk/errors';
import { useState } from 'react';
import { useChange } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { DropZone } from '../../parts/drop-zone.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon, Spinner } from '../../parts/icons.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { bytes } from '../../parts/shown.tsx';

type Upload = { key: string; file: File; state: 'waiting' | 'sending' | 'done' | 'failed'; error: Error | null };

/** The server's body limit: larger uploads would fail without a message. */
const mostBytes = 10 * 1024 * 1024;

/** Uploads files one by one, so that each has its own result and a full notebook takes what fits. */
export function AddDocuments({ notebookId, isLive }: { notebookId: string; isLive: boolean }) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [goesLive, setGoesLive] = useState(true);
  const add = useChange('notebooks.createDocument');
  const mark = (key: string, changed: Partial<Upload>) =>
    setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...changed } : each)));

  const send = async (files: readonly File[], { replace = false } = {}) => {
    const begun = files.map((file): Upload => ({ key: crypto.randomUUID(), file, state: 'waiting', error: null }));
    setUploads((all) => [...all.filter(({ state }) => state !== 'done'), ...begun]);
    for (const { key, file } of begun) {
      mark(key, { state: 'sending' });
      try {
        if (file.size > mostBytes) throw new Error(`${file.name} is ${bytes(file.size)}. The maximum is 10 MB.`);
        await add.runNow({
          notebook_id: notebookId,
          file,
          promote: goesLive ? 'now' : 'no',
          ...(replace && { replace }),
        });
        mark(key, { state: 'done' });
      } catch (error) {
        mark(key, { state: 'failed', error: error as Error });
      }
    }
  };

  const finished = uploads.filter(({ state }) => state === 'done' || state === 'failed').length;
  return (
    <div className="mb-5">
      <DropZone
        hint="Text, Markdown, HTML, PDF, DOCX, XLSX, PPTX, CSV, JSON or source code. At most 10 MB and 512 KB of text each."
        isMany
        label="Drop documents here, or choose them"
        onFiles={(files) => void send(files)}
      />
      {isLive && (
        <label className="mt-2 flex gap-2 text-sm">
          <input
            checked={goesLive}
            className="mt-0.5 size-4 accent-accent"
            onChange={(event) => setGoesLive(event.target.checked)}
            type="checkbox"
          />
          <span>Publish to live users immediately, not with the next promotion</span>
        </label>
      )}
      {uploads.length > 0 && (
        <div className="panel mt-3 divide-y" data-uploads="">
          <div className="flex items-center gap-2 px-3 py-1.5 text-quiet text-sm">
            <span className="grow" role="status">
              {finished} of {uploads.length} uploaded
            </span>
            <RequestMenu
              label="Copy this upload as an API request"
              request={add.requestOf({
                notebook_id: notebookId,
                file: uploads[0]?.file,
                promote: goesLive ? 'now' : 'no',
              })}
            />
            {finished === uploads.length && (
              <Button look="quiet" onClick={() => setUploads([])} shape="small">
                Close
              </Button>
            )}
          </div>
          {uploads.map(({ key, file, state, error }) => (
            <div className="px-3 py-1.5" key={key}>
              <div className="flex items-center gap-2">
                {state === 'sending' ? (
                  <Spinner />
                ) : (
                  <Icon
                    className={`size-4 ${state === 'failed' ? 'text-danger' : state === 'done' ? 'text-good' : 'text-quiet opacity-40'}`}
                    name={state === 'failed' ? 'warn' : 'check'}
                  />
                )}
                <span className="min-w-0 grow truncate">{file.name}</span>
                <span className="figures text-quiet text-sm">{bytes(file.size)}</span>
              </div>
              {error && isTitleTaken(error) && (
                <Fault
                  actions={
                    <Button onClick={() => void send([file], { replace: true })} shape="small">
                      Replace
                    </Button>
                  }
                  className="mt-1.5"
                  error={error}
                />
              )}
              {error && !isTitleTaken(error) && (
                <Fault className="mt-1.5" error={error} retry={() => void send([file])} />
              )}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

const isTitleTaken = (error: Error) => error instanceof VestraError && error.code === 'title_taken';
