import type { Hono } from 'hono';

export type DownloadSource = {
  isGood: (fileId: string, expires: string, signature: string) => boolean;
  /** Null where the file or its bytes are gone. */
  read: (fileId: string) => Promise<{ filename: string; mediaType: string; bytes: Uint8Array } | null>;
};

/** Files behind signed links. They are never shown as a page of ours: a browser saves them. */
export function downloadPages({ isGood, read }: DownloadSource) {
  return (app: Hono) => {
    app.get('/downloads/:file_id', async (context) => {
      const fileId = context.req.param('file_id');
      const { expires = '', signature = '' } = context.req.query();
      const file = isGood(fileId, expires, signature) ? await read(fileId) : null;
      if (!file) return context.text('This link is not valid, or no longer.\n', 404, safe);
      return context.body(file.bytes as Uint8Array<ArrayBuffer>, 200, {
        ...safe,
        'content-type': file.mediaType,
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
      });
    });
  };
}

const safe = {
  'cache-control': 'private, no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
