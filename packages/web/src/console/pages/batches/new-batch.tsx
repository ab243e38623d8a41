import { useState } from 'react';
import type { Answer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DropZone } from '../../parts/drop-zone.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ChangeForm, TextField } from '../../parts/form.tsx';
import { count } from '../../parts/shown.tsx';
import { type BatchItem, readItems } from './read-items.ts';

export function NewBatch({
  onClose,
  onDone,
}: {
  onClose: () => void;
  onDone: (batch: Answer<'batches.create'>) => void;
}) {
  const [file, setFile] = useState<{ name: string; items: BatchItem[] } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const take = async (given: File) => {
    setError(null);
    try {
      setFile({ name: given.name, items: readItems(given.name, await given.text()) });
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title="Start a batch" width="wide">
      {file === null ? (
        <>
          <DropZone
            accept=".csv,.jsonl,.ndjson,text/csv"
            hint="CSV or JSONL with a column message, and user_id if users are required. At most 5,000 lines."
            label="Drop a file here, or choose it"
            onFiles={([given]) => given && void take(given)}
          />
          {error && <Fault className="mt-3" error={error} />}
        </>
      ) : (
        <>
          <div className="mb-4 rounded-md border">
            <div className="flex items-center gap-2 border-b bg-muted/60 px-3 py-1.5">
              <span className="min-w-0 grow truncate font-medium">
                {file.name}, {count(file.items.length)} {file.items.length === 1 ? 'item' : 'items'}
              </span>
              <Button look="quiet" onClick={() => setFile(null)} shape="small">
                Choose another file
              </Button>
            </div>
            <ol className="max-h-40 overflow-y-auto">
              {file.items.slice(0, 5).map(({ message, user_id }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a file have nothing else to tell them apart.
                <li className="flex gap-3 border-b px-3 py-1 text-sm last:border-0" key={index}>
                  <span className="min-w-0 grow truncate">{message}</span>
                  <span className="text-quiet">{user_id}</span>
                </li>
              ))}
            </ol>
          </div>
          <ChangeForm
            fields={{ items: file.items }}
            initial={{ deployment: '', concurrency: 10, items: null }}
            onCancel={onClose}
            onDone={onDone}
            row="batches.create"
            send={({ deployment, concurrency }) => ({
              ...(deployment !== '' && { deployment }),
              ...(concurrency !== '' && { concurrency }),
            })}
            submit={`Start ${count(file.items.length)} conversations`}
          >
            <TextField label="Deployment" name="deployment" />
            <TextField label="Concurrency" name="concurrency" type="number" />
          </ChangeForm>
        </>
      )}
    </Dialog>
  );
}
