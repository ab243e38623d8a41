import type { Client } from '@vestra/sdk/client';
import { newIdempotencyKey } from '@vestra/sdk/transport';
import { useCallback, useState } from 'react';
import { isPicture } from '../../files/pictures.ts';
import { useWords } from '../words/words.ts';
import type { Attachment } from './chat-state.ts';

type Upload = {
  key: string;
  name: string;
  isUploading: boolean;
  fileId: string | null;
  /** A picture as the browser shows it; null for other files. */
  preview: string | null;
  cancel: () => void;
};

export type Uploads = {
  files: readonly Upload[];
  ready: readonly Attachment[];
  isUploading: boolean;
  problem: string | null;
  add: (files: readonly File[]) => void;
  remove: (key: string) => void;
  clear: () => void;
};

const largestBytes = 10 * 1024 * 1024;
const mostFiles = 10;

/** Uploads start when files are chosen, so that sending does not wait. */
export function useUploads(client: Client, failed: (error: unknown) => void): Uploads {
  const words = useWords();
  const [files, setFiles] = useState<readonly Upload[]>([]);
  const [problem, setProblem] = useState<string | null>(null);

  const remove = useCallback((key: string) => {
    setFiles((before) => {
      before.find((each) => each.key === key)?.cancel();
      return before.filter((each) => each.key !== key);
    });
  }, []);

  const upload = async (file: File) => {
    const key = newIdempotencyKey();
    const uploading = new AbortController();
    const preview = isPicture(file.type) ? URL.createObjectURL(file) : null;
    const cancel = () => {
      uploading.abort();
      if (preview !== null) URL.revokeObjectURL(preview);
    };
    const started: Upload = { key, name: file.name, isUploading: true, fileId: null, preview, cancel };
    setFiles((before) => [...before, started]);
    try {
      const { id } = await client.files.create({ file }, { signal: uploading.signal });
      setFiles((before) =>
        before.map((each) => (each.key === key ? { ...each, isUploading: false, fileId: id } : each)),
      );
    } catch (error) {
      if (uploading.signal.aborted) return;
      failed(error);
      remove(key);
      setProblem(words.notUploaded(file.name));
    }
  };

  return {
    files,
    ready: files.flatMap(({ fileId, name }) => (fileId === null ? [] : [{ file_id: fileId, filename: name }])),
    isUploading: files.some(({ isUploading }) => isUploading),
    problem,
    add(chosen) {
      const tooLarge = chosen.find(({ size }) => size > largestBytes);
      const fitting = chosen.filter(({ size }) => size <= largestBytes);
      const room = mostFiles - files.length;
      setProblem(tooLarge ? words.tooLarge(tooLarge.name) : fitting.length > room ? words.tooMany : null);
      for (const file of fitting.slice(0, room)) void upload(file);
    },
    remove,
    clear() {
      for (const { cancel } of files) cancel();
      setFiles([]);
      setProblem(null);
    },
  };
}
