import type { Client } from '@vestra/sdk/client';
import { useEffect, useState } from 'react';
import { isNamedAsPicture, isPicture } from '../../files/pictures.ts';
import { DownloadIcon, FileIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';

const boxLook = 'block h-36 w-48 max-w-full overflow-hidden rounded-2xl border bg-muted';

/** A file with a download link, which outlives the session. A picture is shown as a thumbnail. */
export function FileLink({ client, fileId, filename }: { client: Client; fileId: string; filename: string }) {
  const words = useWords();
  const [found, setFound] = useState<{ href: string; isPicture: boolean } | null>(null);
  const [isReading, setReading] = useState(true);
  useEffect(() => {
    const asking = new AbortController();
    client.files
      .get({ file_id: fileId }, { signal: asking.signal })
      .then(
        ({ download_url, mime_type }) => setFound({ href: download_url, isPicture: isPicture(mime_type) }),
        // A deleted file is shown without a link.
        () => setFound(null),
      )
      .finally(() => setReading(asking.signal.aborted));
    return () => asking.abort();
  }, [client, fileId]);
  if (found?.isPicture) {
    return (
      <a aria-label={words.download(filename)} className={`${boxLook} pressable`} download={filename} href={found.href}>
        <img
          alt={filename}
          className="size-full object-cover"
          onError={() => setFound({ ...found, isPicture: false })}
          src={found.href}
        />
      </a>
    );
  }
  if (isReading && isNamedAsPicture(filename)) return <span className={boxLook} />;
  const look = 'inline-flex max-w-full items-center gap-2 rounded-full border bg-card px-3 py-1.5 text-sm';
  if (found === null) {
    return (
      <span className={look}>
        <FileIcon className="size-4 shrink-0 text-muted-foreground" />
        <bdi className="truncate">{filename}</bdi>
      </span>
    );
  }
  return (
    <a
      aria-label={words.download(filename)}
      className={`${look} pressable hover:bg-muted`}
      download={filename}
      href={found.href}
    >
      <FileIcon className="size-4 shrink-0 text-muted-foreground" />
      <bdi className="truncate">{filename}</bdi>
      <DownloadIcon className="size-4 shrink-0 text-muted-foreground" />
    </a>
  );
}
