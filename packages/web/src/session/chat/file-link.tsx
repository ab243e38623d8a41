import type { Client } from '@vestra/sdk/client';
import { useEffect, useState } from 'react';
import { DownloadIcon, FileIcon } from '../icons.tsx';
import { useWords } from '../words/words.ts';

/** A file with a download link, which outlives the session. */
export function FileLink({ client, fileId, filename }: { client: Client; fileId: string; filename: string }) {
  const words = useWords();
  const [href, setHref] = useState<string | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    client.files.get({ file_id: fileId }, { signal: asking.signal }).then(
      ({ download_url }) => setHref(download_url),
      // A deleted file is shown without a link.
      () => setHref(null),
    );
    return () => asking.abort();
  }, [client, fileId]);
  const look = 'inline-flex max-w-full items-center gap-2 rounded-full border bg-card px-3 py-1.5 text-sm';
  if (href === null) {
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
      href={href}
    >
      <FileIcon className="size-4 shrink-0 text-muted-foreground" />
      <bdi className="truncate">{filename}</bdi>
      <DownloadIcon className="size-4 shrink-0 text-muted-foreground" />
    </a>
  );
}
