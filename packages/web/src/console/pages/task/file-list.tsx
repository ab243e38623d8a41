import { useState } from 'react';
import { callApi, usePlace, useRole } from '../../data/api.ts';
import type { ItemOf, Request } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Section } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count } from '../../parts/shown.tsx';

type StoredFile = ItemOf<'files.list'>;

/** Files that work has made. A link of its own is made for each look: it holds for a quarter of an hour. */
export function FileList({
  files,
  title,
}: {
  files: { rows: readonly StoredFile[]; request: Request };
  title: string;
}) {
  const place = usePlace();
  const { may } = useRole();
  const [fault, setFault] = useState<Error | null>(null);
  const [asked, setAsked] = useState<StoredFile | null>(null);
  if (files.rows.length === 0) return null;
  const download = async (file_id: string) => {
    setFault(null);
    try {
      const { download_url } = await callApi(place, 'files.get', { file_id });
      location.assign(download_url);
    } catch (error) {
      setFault(error as Error);
    }
  };
  return (
    <Section actions={<RequestMenu request={files.request} />} title={title}>
      <ul className="panel divide-y">
        {files.rows.map((file) => (
          <li className="flex items-center gap-3 px-3 py-1.5" key={file.id}>
            <button
              className="min-w-0 truncate text-accent underline underline-offset-2"
              onClick={() => void download(file.id)}
              type="button"
            >
              {file.filename}
            </button>
            <span className="figures ml-auto whitespace-nowrap text-quiet text-sm">
              {count(file.size_bytes ?? 0)} bytes
            </span>
            {may('files.delete') && (
              <Button aria-label={`Delete ${file.filename}`} look="quiet" onClick={() => setAsked(file)} shape="small">
                <Icon name="trash" />
              </Button>
            )}
          </li>
        ))}
      </ul>
      {fault && <Fault className="mt-2" error={fault} />}
      {asked && (
        <ConfirmChange
          act="Delete file"
          fields={{ file_id: asked.id }}
          loses={`${asked.filename ?? 'The file'} is deleted permanently. Existing links to it stop working.`}
          onClose={() => setAsked(null)}
          row="files.delete"
          title="Delete this file?"
        />
      )}
    </Section>
  );
}
