import { useState } from 'react';
import { useOrgAndMode } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { DropZone } from '../../parts/drop-zone.tsx';
import { Fault } from '../../parts/fault.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { bytes } from '../../parts/shown.tsx';

type UploadProps = {
  /** The skill to replace. Without it a new skill is created. */
  skill?: { id: string; name: string };
  onClose: () => void;
  onDone: (skill: RouteAnswer<'skills.create'>) => void;
};

const mostBytes = 8 * 1024 * 1024;
const isZip = (file: File) => /\.zip$/i.test(file.name) || file.type === 'application/zip';

/** A zip is sent as is, single files by name. */
async function contentOf(files: readonly File[]) {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > mostBytes) throw new Error(`These files are ${bytes(total)}. The maximum is 8 MB.`);
  const [zip, ...more] = files;
  if (zip && more.length === 0 && isZip(zip)) return { zip };
  return { files: await Promise.all(files.map(async (file) => ({ path: file.name, content: await file.text() }))) };
}

export function UploadSkill({ skill, onClose, onDone }: UploadProps) {
  const { mode } = useOrgAndMode();
  const create = useChange('skills.create', { onDone });
  const replace = useChange('skills.replace', { onDone });
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isLate, setIsLate] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [first] = files;
  const content =
    files.length === 1 && first && isZip(first)
      ? { zip: first }
      : { files: files.map(({ name }) => ({ path: name, content: `what is in ${name}` })) };
  const request = skill
    ? replace.requestOf({ skill_id: skill.id, promote: isLate ? 'no' : 'now', ...content })
    : create.requestOf(content);
  const run = async () => {
    setError(null);
    try {
      const content = await contentOf(files);
      if (skill) await replace.runNow({ skill_id: skill.id, promote: isLate ? 'no' : 'now', ...content });
      else await create.runNow(content);
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog
      description="A zip of the folder, or its files: a SKILL.md with name and description in its front matter, and the files it refers to."
      isOpen
      onClose={onClose}
      title={skill ? `Replace files of ${skill.name}` : 'Upload a skill'}
    >
      <DropZone
        hint="Up to 200 text files."
        isMany
        label="Drop a zip or its files here, or choose them"
        onFiles={setFiles}
      />
      {files.length > 0 && (
        <ul className="mt-3 max-h-48 overflow-y-auto rounded-md border">
          {files.map((file) => (
            <li className="flex gap-3 border-b px-3 py-1 last:border-0" key={file.name}>
              <span className="min-w-0 grow truncate font-mono text-sm">{file.name}</span>
              <span className="figures text-quiet text-sm">{bytes(file.size)}</span>
            </li>
          ))}
        </ul>
      )}
      {skill && mode === 'live' && (
        <label className="mt-3 flex gap-2 text-sm">
          <input
            checked={isLate}
            className="mt-0.5 size-4 accent-accent"
            onChange={(event) => setIsLate(event.target.checked)}
            type="checkbox"
          />
          Publish to live users with the next promotion, not immediately
        </label>
      )}
      {error && <Fault className="mt-3" error={error} />}
      <DialogActions>
        <span className="mr-auto">
          <RequestMenu label="Copy this change as an API request" request={request} />
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          disabled={files.length === 0}
          isBusy={create.isRunning || replace.isRunning}
          look="primary"
          onClick={() => void run()}
        >
          Upload
        </Button>
      </DialogActions>
    </Dialog>
  );
}
