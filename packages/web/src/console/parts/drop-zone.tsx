import { type DragEvent, type ReactNode, useId, useState } from 'react';
import { Icon } from './icons.tsx';

type DropZoneProps = {
  /** Such as `Drop documents here`. */
  label: string;
  hint?: ReactNode;
  accept?: string;
  isMany?: boolean;
  isOff?: boolean;
  onFiles: (files: File[]) => void;
};

/** Accepts files by drag and drop or by the file picker. */
export function DropZone({ label, hint, accept, isMany = false, isOff = false, onFiles }: DropZoneProps) {
  const id = useId();
  const [isOver, setIsOver] = useState(false);
  const take = (list: FileList | null) => {
    const files = [...(list ?? [])];
    if (files.length > 0 && !isOff) onFiles(isMany ? files : files.slice(0, 1));
  };
  const over = (event: DragEvent, is: boolean) => {
    event.preventDefault();
    setIsOver(is);
  };
  return (
    <label
      className={`flex items-center gap-3 rounded-lg border border-dashed px-4 py-4 transition-colors has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-accent ${isOver ? 'border-accent bg-accent-soft' : 'border-strong-line hover:bg-muted/50'} ${isOff ? 'pointer-events-none opacity-60' : ''}`}
      htmlFor={id}
      onDragLeave={(event) => over(event, false)}
      onDragOver={(event) => over(event, true)}
      onDrop={(event) => {
        over(event, false);
        take(event.dataTransfer.files);
      }}
    >
      <span className="grid size-9 shrink-0 place-items-center rounded-lg bg-muted text-quiet">
        <Icon className="size-5" name="plus" />
      </span>
      <span className="min-w-0">
        <span className="block font-medium">{label}</span>
        {hint && <span className="block text-quiet text-sm">{hint}</span>}
      </span>
      <input
        accept={accept}
        className="sr-only"
        disabled={isOff}
        id={id}
        multiple={isMany}
        onChange={(event) => {
          take(event.target.files);
          // Clearing the value allows choosing the same file again after it was fixed.
          event.target.value = '';
        }}
        type="file"
      />
    </label>
  );
}
