import { type MouseEvent, useRef, useState } from 'react';
import { isNamedAsPicture, isPicture } from '../../../files/pictures.ts';
import { useRole } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import { Icon } from '../icons.tsx';

const boxLook = 'block h-28 w-40 max-w-full overflow-hidden rounded-md border bg-muted';

/** A file of a message with its download link, a picture as a thumbnail. A deleted file is its name. */
export function Attachment({ file_id, filename }: { file_id: string; filename: string }) {
  const { may } = useRole();
  const file = useOne('files.get', { file_id }, { enabled: may('files.get') });
  const [isDrawn, setIsDrawn] = useState(true);
  // Each answer has another link to the same picture.
  const picture = useRef<string>(undefined);
  picture.current ??= file.data?.download_url;
  if (file.isLoading && isNamedAsPicture(filename)) return <span className={boxLook} />;
  const look = 'inline-flex max-w-full items-center gap-1.5 rounded-md border bg-surface px-2 py-1 text-sm';
  if (!file.data || file.error) {
    return (
      <span className={`${look} text-quiet`}>
        <Icon className="size-4" name="audit" />
        <bdi className="truncate" title={filename}>
          {filename}
        </bdi>
      </span>
    );
  }
  const { download_url, download_expires_at, mime_type } = file.data;
  const isThumbnail = isDrawn && isPicture(mime_type);
  const refreshed = async (event: MouseEvent) => {
    if (Date.parse(download_expires_at) > Date.now()) return;
    event.preventDefault();
    const { data } = await file.refetch();
    if (data) location.assign((data as typeof file.data).download_url);
  };
  return (
    <a
      aria-label={`Download ${filename}`}
      className={isThumbnail ? boxLook : `${look} text-accent underline-offset-2 hover:underline`}
      download={filename}
      href={download_url}
      onClick={refreshed}
      title={filename}
    >
      {isThumbnail ? (
        <img alt="" className="size-full object-cover" onError={() => setIsDrawn(false)} src={picture.current} />
      ) : (
        <>
          <Icon className="size-4" name="audit" />
          <bdi className="truncate">{filename}</bdi>
        </>
      )}
    </a>
  );
}
