import { callApi, useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { ConfirmChange } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { DropZone } from '../../parts/drop-zone.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FilterBar, useFilters } from '../../parts/filters.tsx';
import { say } from '../../parts/notices.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { bytes, Status, Time } from '../../parts/shown.tsx';

type File = ItemOf<'files.list'>;

/** Uploads and outputs of the user. */
export function UserFiles({ userId }: { userId: string }) {
  const place = useOrgAndMode();
  const { may } = useRole();
  const [{ source }, setFilters] = useFilters('source', 'part');
  const wanted = source === 'output' ? 'output' : 'upload';
  const files = useList('files.list', { user_id: userId, source: wanted });
  const deleting = useDialogInAddress('delete');
  const removed = files.rows.find(({ id }) => id === deleting.value);
  const add = useChange('files.create', { onDone: ({ filename }) => say(`${filename} uploaded`) });
  const download = async ({ id }: File) => {
    // Download links are valid for 15 minutes, so each click requests a new one.
    const { download_url } = await callApi(place, 'files.get', { file_id: id });
    window.open(download_url, '_blank', 'noopener');
  };
  const columns: Column<File>[] = [
    { id: 'name', header: 'File', cell: ({ filename, id }) => filename ?? id },
    {
      id: 'type',
      header: 'Type',
      width: '10rem',
      isWideOnly: true,
      cell: ({ mime_type }) => <span className="text-quiet">{mime_type}</span>,
    },
    {
      id: 'size',
      header: 'Size',
      width: '5rem',
      align: 'end',
      cell: ({ size_bytes }) => (size_bytes === null ? '–' : bytes(size_bytes)),
    },
    { id: 'source', header: 'Source', width: '5rem', isWideOnly: true, cell: (file) => <Status>{file.source}</Status> },
    {
      id: 'made',
      header: 'Created',
      width: '6rem',
      isWideOnly: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '2rem',
      cell: (file) => (
        <RowMenu
          items={[
            { label: 'Download', icon: 'external', run: () => void download(file) },
            {
              label: 'Delete',
              icon: 'trash',
              isDanger: true,
              run: () => deleting.open(file.id),
              isOff: !may('files.delete'),
            },
          ]}
          of={file.filename ?? file.id}
        />
      ),
    },
  ];
  return (
    <>
      {may('files.create') && (
        <div className="mb-4">
          <DropZone
            hint="At most 10 MB. The agent reads a file when a message attaches it."
            isOff={add.isRunning}
            label="Drop a file for this user here, or choose it"
            onFiles={([file]) => file && add.run({ user_id: userId, file })}
          />
          {add.error && <Fault className="mt-2" error={add.error} />}
        </div>
      )}
      <FilterBar
        filters={{ ...(source && { source }) }}
        set={setFilters}
        shown={[{ name: 'source', label: 'Source', options: ['upload', 'output'] }]}
      />
      <DataTable
        columns={columns}
        empty={
          <EmptyState icon="audit" title={wanted === 'output' ? 'No outputs yet' : 'No uploads yet'}>
            Files that the user uploaded. Choose the source “output” for files that agents created.
          </EmptyState>
        }
        label="Files"
        list={files}
      />
      {removed && (
        <ConfirmChange
          act="Delete file"
          fields={{ file_id: removed.id }}
          loses={
            <>
              <strong className="break-all text-foreground">{removed.filename}</strong> is deleted, also from
              conversations that contain it.
            </>
          }
          notice="File deleted"
          onClose={deleting.close}
          row="files.delete"
          title="Delete this file?"
        />
      )}
    </>
  );
}
